// The servers of an address, with the settings of their connections. A server gets one set of connection settings for
// each kind of TLS that is tried, in the order of libpq.

import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import type { ClientConfig } from 'pg'
import {
  type DatabaseAddress,
  type DatabaseHost,
  hostName,
  isSslMode,
  parseDatabaseAddress,
} from '../../base/addresses.ts'
import { systemClock } from '../../base/clock.ts'
import { StoreUnavailableError } from '../kv/store-errors.ts'

export interface DatabaseServer {
  /** Identifies the server among the servers of the address. */
  readonly name: string
  /** Contains at least one element. The next settings are tried when the server rejects the previous ones. */
  readonly configs: readonly ClientConfig[]
}

/** Time for which a server that has not responded is tried last. */
const silentMs = 30_000
/** The times at which servers did not respond, by name, in milliseconds of the monotonic clock. */
const silentSince = new Map<string, number>()

export function isSilent({ name }: DatabaseServer): boolean {
  return systemClock.elapsedMs() - (silentSince.get(name) ?? Number.NEGATIVE_INFINITY) < silentMs
}

/** Must be called when the server has not responded. */
export function markSilent({ name }: DatabaseServer): void {
  silentSince.set(name, systemClock.elapsedMs())
}

/** Milliseconds after which an attempt to connect fails. */
const connectTimeoutMs = 5_000

/**
 * Returns the servers in the order in which they are tried. Throws {@link StoreUnavailableError} when a file that the
 * address names cannot be read, or when the variable PGSSLMODE is invalid.
 */
export function serversOf(url: string, purpose: string): DatabaseServer[] {
  const address = parseDatabaseAddress(url)
  const { database, hosts, options, password, user } = address
  const seconds = Number(options.get('connect_timeout') ?? 0)
  const common: ClientConfig = {
    ...{ user, password, database },
    options: options.get('options'),
    ...(options.get('sslnegotiation') === 'direct' && { sslnegotiation: 'direct' }),
    application_name: options.get('application_name') ?? `terrarium ${purpose}`,
    connectionTimeoutMillis: seconds > 0 ? seconds * 1000 : connectTimeoutMs,
  }
  return hosts.map(server => ({
    name: hostName(server),
    configs: tlsOf(address, server).map(ssl => ({ ...common, ...server, ssl })),
  }))
}

/** The kinds of TLS to try, in order; false: no TLS. Follows libpq's rules for `sslmode`. */
function tlsOf({ options, sslMode }: DatabaseAddress, { host }: DatabaseHost): (false | ConnectionOptions)[] {
  const mode = sslMode ?? (process.env.PGSSLMODE || 'prefer')
  // Unix sockets do not use TLS.
  if (mode === 'disable' || host?.startsWith('/')) return [false]
  if (!isSslMode(mode)) throw new StoreUnavailableError('the variable PGSSLMODE is not a mode of TLS')
  const root = options.get('sslrootcert')
  const ca = root === undefined || root === 'system' ? undefined : fileOf('sslrootcert', options)
  const client: ConnectionOptions = {
    ...(options.has('sslcert') && { cert: fileOf('sslcert', options) }),
    ...(options.has('sslkey') && { key: fileOf('sslkey', options) }),
    ...(options.has('sslpassword') && { passphrase: options.get('sslpassword') as string }),
  }
  const unverified = { ...client, rejectUnauthorized: false }
  if (mode === 'allow') return [false, unverified]
  if (mode === 'prefer') return [unverified, false]
  const verified = { ...client, ...(ca !== undefined && { ca }) }
  if (mode === 'verify-full') return [verified]
  if (mode === 'verify-ca' && ca === undefined)
    throw new StoreUnavailableError('PGSSLMODE=verify-ca needs an sslrootcert in the address of the store')
  if (ca === undefined || mode === 'no-verify') return [unverified]
  return [{ ...verified, checkServerIdentity: () => undefined }]
}

function fileOf(option: string, options: ReadonlyMap<string, string>): string {
  const file = options.get(option) as string
  try {
    return readFileSync(file, 'utf8')
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new StoreUnavailableError(`the file ${file} (${option}) cannot be read: ${code}`, { cause })
  }
}
