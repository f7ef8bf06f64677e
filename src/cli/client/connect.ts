// Which service the commands that send queries talk to: one at a URL, the one that serves a data directory, or one of their
// own on a folder that nobody serves.

import { existsSync } from 'node:fs'
import { UsageError } from '../../config/read-config.ts'
import type { Config } from '../../config/settings.ts'
import { StoreUnavailableError } from '../../kv/errors.ts'
import { StartError } from '../command.ts'
import { keptRootSecret } from '../data-folder.ts'
import { notedAddress } from '../service-address.ts'
import { Connection, type Scope } from './connection.ts'
import { startOwnService } from './own-service.ts'

const timeoutMaxMs = 3_600_000

/** The options of every command that sends queries. */
export const clientOptions = {
  url: {
    kind: 'string',
    default: undefined,
    placeholder: 'URL',
    fromEnvironment: true,
    doc: 'The service. Without it, the one that serves the data directory; a folder that nobody serves is opened.',
  },
  secret: {
    kind: 'string',
    default: undefined,
    placeholder: 'SECRET',
    fromEnvironment: true,
    doc: "The secret of a key or token. Prefer the environment variable: others can see flags. Without it, the data directory's root secret.",
  },
  database: {
    kind: 'string',
    default: undefined,
    placeholder: 'PATH',
    doc: 'A database below that of the secret, such as shop or shop/test.',
  },
  as: {
    kind: 'string',
    default: undefined,
    placeholder: 'WHO',
    doc: 'Whose rights count: admin, server, server-readonly, client, @role/NAME or @doc/COLLECTION/ID. An admin key may be all of them.',
  },
  timeout: {
    kind: 'integer',
    default: undefined,
    min: 1,
    max: timeoutMaxMs,
    placeholder: 'MS',
    doc: 'Milliseconds that each query may take; without it, as long as the service allows.',
  },
} as const

/** What a command line gave for {@link clientOptions}. */
export interface ClientChoice {
  readonly url: string | undefined
  readonly secret: string | undefined
  readonly database: string | undefined
  readonly as: string | undefined
  readonly timeout: number | undefined
}

/** Finds the service, or starts one. Throws {@link UsageError} or {@link StartError}. */
export async function connect(choice: ClientChoice, config: Config): Promise<Connection> {
  const { database, as, timeout: timeoutMs } = choice
  const scope: Scope = { database, as }
  const { url } = choice
  if (url !== undefined) {
    if (!/^https?:\/\//.test(url) || !URL.canParse(url))
      throw new UsageError('--url must be an http or https URL')
    if (choice.secret === undefined) throw new UsageError('--url needs --secret (or TERRARIUM_SECRET)')
    return new Connection({ url, secret: choice.secret, scope, timeoutMs })
  }
  const { data } = config
  if (!existsSync(data)) {
    throw new StartError(
      `there is no data directory ${data}: give --data, or --url and --secret of a service`,
    )
  }
  if (!(await isServed(data))) {
    const service = await startOwnService(config)
    const secret = choice.secret ?? service.secret
    return new Connection({ url: service.url, secret, scope, timeoutMs, onClose: service.stop })
  }
  const address = notedAddress(data)
  if (address === undefined) {
    throw new StartError(`the data directory ${data} is served, but not said where: give --url and --secret`)
  }
  const secret = choice.secret ?? config.rootSecret ?? keptRootSecret(data)
  if (secret === undefined) {
    throw new StartError(
      `the data directory ${data} is served by ${address} with a root secret of its own: give --secret`,
    )
  }
  return new Connection({ url: address, secret, scope, timeoutMs })
}

async function isServed(folder: string): Promise<boolean> {
  // The storage engine is only loaded for folders.
  const { claimFolder } = await import('../../kv/lmdb-claim.ts')
  try {
    const release = claimFolder(folder)
    await release()
    return false
  } catch (cause) {
    if (cause instanceof StoreUnavailableError) return true
    throw cause
  }
}
