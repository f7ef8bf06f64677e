// Parses the addresses in settings. The address of a PostgreSQL database has the syntax of libpq:
// postgres://user:password@host:port,host:port/name?option=value. Errors never repeat text of a database's address,
// because any part of it may belong to the password: a password may contain characters that have a meaning in
// addresses.

import { resolve } from 'node:path'

const sslModes = ['disable', 'allow', 'prefer', 'require', 'no-verify', 'verify-ca', 'verify-full'] as const

/** The TLS mode of a connection. `no-verify` is `require` without verification of the certificate. */
type SslMode = (typeof sslModes)[number]

export function isSslMode(text: string): text is SslMode {
  return sslModes.some(mode => mode === text)
}

/** If `host` or `port` is undefined, the driver uses its default. */
export interface DatabaseHost {
  /** A name, an IP address, or the folder of a Unix socket. */
  readonly host: string | undefined
  readonly port: number | undefined
}

export interface DatabaseAddress {
  /** Contains at least one host, in the order in which a client tries them. */
  readonly hosts: readonly DatabaseHost[]
  readonly database: string | undefined
  readonly user: string | undefined
  readonly password: string | undefined
  readonly sslMode: SslMode | undefined
  /** All options of the address, including options such as `host` and `user` that are also in other fields. */
  readonly options: ReadonlyMap<string, string>
}

/** The message, such as "must be …", continues a sentence that begins with the name of the setting. */
export class AddressFault extends Error {
  override name = 'AddressFault'
}

const anyText = /^/

/** Accepted libpq options, each with its valid values. All other options are rejected. */
const options: ReadonlyMap<string, RegExp> = new Map([
  ...['host', 'port', 'user', 'password', 'dbname'].map(name => [name, anyText] as const),
  ...['sslrootcert', 'sslcert', 'sslkey', 'sslpassword'].map(name => [name, anyText] as const),
  ['sslmode', new RegExp(`^(${sslModes.join('|')})$`)],
  ['sslnegotiation', /^(postgres|direct)$/],
  ['ssl', /^true$/],
  ['options', anyText],
  ['application_name', anyText],
  ['fallback_application_name', anyText],
  ['connect_timeout', /^\d+$/],
  // All three values have the same effect: the service always connects to the first server that accepts writes.
  ['target_session_attrs', /^(any|read-write|primary)$/],
  // Accepted and ignored, because the service chooses these values for every connection.
  ['keepalives', anyText],
  ['keepalives_idle', anyText],
  ['keepalives_interval', anyText],
  ['keepalives_count', anyText],
  ['tcp_user_timeout', anyText],
  // Only values that request the behaviour of the service are accepted.
  ['client_encoding', /^(utf-?8|auto)$/i],
  ['gssencmode', /^(disable|prefer)$/],
  ['channel_binding', /^(disable|prefer)$/],
  ['load_balance_hosts', /^disable$/],
  ['uselibpqcompat', /^true$/],
] as const)

export function hostName({ host = 'localhost', port }: DatabaseHost): string {
  return port === undefined ? host : `${host.includes(':') ? `[${host}]` : host}:${port}`
}

/** Throws {@link AddressFault}. */
export function parseDatabaseAddress(text: string): DatabaseAddress {
  const rest = /^postgres(?:ql)?:\/\/(.*)$/s.exec(text)?.[1]
  if (rest === undefined) throw new AddressFault('must be a URL that begins with postgres://')
  const { user, password, location } = splitCredentials(rest)
  const [servers, query] = cut(location, '?')
  const [authority, name] = cut(servers, '/')
  const given = readOptions(query ?? '')
  return {
    hosts: given.has('host') || given.has('port') ? listedHosts(authority, given) : readHosts(authority),
    database: given.get('dbname') || decode(name ?? '') || undefined,
    user: given.get('user') || user,
    password: given.get('password') || password,
    sslMode: sslModeOf(given),
    options: given,
  }
}

/** Splits a text at its first `@`. Like libpq, finds no credentials in a text with a `/` before the `@`. */
function splitCredentials(text: string): {
  readonly user: string | undefined
  readonly password: string | undefined
  readonly location: string
} {
  const end = text.search(/[@/]/)
  const hasCredentials = text[end] === '@'
  const location = hasCredentials ? text.slice(end + 1) : text
  if (location.includes('@')) {
    throw new AddressFault(
      'must have one @ at most, before the host, and no / before that: in a user name, a password or an option write @ as %40 and / as %2F',
    )
  }
  if (!hasCredentials) return { user: undefined, password: undefined, location }
  const [user, password] = cut(text.slice(0, end), ':')
  return { user: decode(user) || undefined, password: decode(password ?? '') || undefined, location }
}

function readOptions(query: string): Map<string, string> {
  const given = new Map<string, string>()
  for (const part of query.split('&')) {
    if (part === '') continue
    const [name, value] = cut(part, '=').map(each => each && decode(each))
    if (name === undefined || value === undefined || part.split('=').length > 2)
      throw new AddressFault('must have options such as name=value after its ?')
    const allowed = options.get(name)
    if (allowed === undefined)
      throw new AddressFault(`must not have options other than ${[...options.keys()].join(', ')}`)
    if (!allowed.test(value)) throw new AddressFault(`must not have that ${name}: ${reasonAgainst(name)}`)
    given.set(name, value)
  }
  return given
}

function reasonAgainst(name: string): string {
  if (name === 'target_session_attrs') return 'a node writes, so it is any, read-write or primary'
  return name === 'sslmode' ? `there are ${sslModes.join(', ')}` : 'it is not supported'
}

function sslModeOf(given: ReadonlyMap<string, string>): SslMode | undefined {
  const root = given.get('sslrootcert')
  const assumed = given.get('ssl') === 'true' ? 'require' : root === 'system' ? 'verify-full' : undefined
  const mode = (given.get('sslmode') ?? assumed) as SslMode | undefined
  if (mode === 'verify-ca' && (root === undefined || root === 'system'))
    throw new AddressFault('must have an sslrootcert for sslmode=verify-ca')
  if (given.get('sslnegotiation') === 'direct' && !/^(require|no-verify|verify-.*)$/.test(mode ?? ''))
    throw new AddressFault('must have at least sslmode=require for sslnegotiation=direct')
  return mode
}

function readHosts(authority: string): DatabaseHost[] {
  return authority.split(',').map(part => {
    const [, bracketed, plain, port = ''] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::(.*))?$/s.exec(part) ?? []
    if (bracketed === undefined && plain === undefined)
      throw new AddressFault('must have hosts such as name, name:port or [IPv6]:port')
    return { host: decode(bracketed ?? plain ?? '') || undefined, port: portOf(port) }
  })
}

/**
 * Each of the options `host` and `port` is a list that replaces the hosts or the ports of `authority`. The lists must
 * have the same length; a single port applies to all hosts.
 */
function listedHosts(authority: string, given: ReadonlyMap<string, string>): DatabaseHost[] {
  const listed = readHosts(authority)
  const hosts = given.get('host')?.split(',') ?? listed.map(({ host }) => host)
  const ports = given.get('port')?.split(',').map(portOf) ?? listed.map(({ port }) => port)
  if (ports.length !== 1 && ports.length !== hosts.length)
    throw new AddressFault('must have one port, or as many as hosts')
  return hosts.map((host, at) => ({
    host: host || undefined,
    port: ports.length === 1 ? ports[0] : ports[at],
  }))
}

function portOf(text: string): number | undefined {
  if (text === '') return undefined
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0
  if (port < 1 || port > 65_535)
    throw new AddressFault(
      'must have ports from 1 to 65535; in a user name or a password write : as %3A and / as %2F',
    )
  return port
}

function decode(text: string): string {
  try {
    const decoded = decodeURIComponent(text)
    if (!decoded.includes('\0')) return decoded
  } catch {
    // The error is thrown below, without the text.
  }
  throw new AddressFault('must have two hexadecimal digits of UTF-8 after each %: write % itself as %25')
}

/** Splits a text at the first `separator`. Without a separator, the second part is undefined. */
function cut(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + 1)]
}

/** The folder is absolute. `prefix` begins the names of all objects in the bucket, and does not end with a slash. */
type BackupAddress =
  | { readonly kind: 'folder'; readonly folder: string }
  | { readonly kind: 'bucket'; readonly bucket: string; readonly prefix: string }

const scheme = /^[a-z][a-z0-9+.-]*:\/\//i
const bucketPattern = /^s3:\/\/([^/]+)(?:\/(.*))?$/i

/** Parses the path of a folder or `s3://BUCKET/PREFIX`; undefined for other texts. */
export function parseBackupAddress(text: string): BackupAddress | undefined {
  const found = bucketPattern.exec(text)
  if (found !== null) {
    const [, bucket = '', prefix = ''] = found
    return { kind: 'bucket', bucket, prefix: prefix.replace(/\/+$/, '') }
  }
  return scheme.test(text) ? undefined : { kind: 'folder', folder: resolve(text) }
}
