// The database that an import or export is about: behind a running service, or in a data folder that nobody serves.

import { existsSync } from 'node:fs'
import { pino } from 'pino'
import { systemRandom } from '../base/random.ts'
import { systemTimers } from '../base/timers.ts'
import type { Config } from '../config.ts'
import { claimFolder } from '../kv/lmdb-claim.ts'
import { openEngine } from '../open-engine.ts'
import {
  type Connection,
  type DatabasePath,
  localConnection,
  remoteConnection,
} from '../transfer/connection.ts'
import { TransferError } from '../transfer/record.ts'
import { StartError } from './command.ts'
import { explained, prepareDataFolder } from './data-folder.ts'

/** The options that say which database is meant; with the setting `data`. */
export const targetOptions = {
  url: {
    kind: 'text',
    default: undefined,
    placeholder: 'URL',
    fromEnvironment: true,
    doc: 'Address of a running service; without it the data folder itself is opened.',
  },
  secret: {
    kind: 'text',
    default: undefined,
    placeholder: 'SECRET',
    fromEnvironment: true,
    doc: 'With --url: the root secret, or that of an admin key.',
  },
  database: {
    kind: 'text',
    default: undefined,
    placeholder: 'PATH',
    doc: 'The database, below the one that the secret opens: names with slashes in between.',
  },
} as const

export interface Target {
  readonly connection: Connection
  readonly database: DatabasePath
}

interface TargetInvocation {
  readonly options: {
    readonly url: string | undefined
    readonly secret: string | undefined
    readonly database: string | undefined
  }
  readonly config: Config
}

/** Connects to what an invocation names. Throws {@link StartError}. */
export async function openTarget(
  { config, options: { database: path, secret, url } }: TargetInvocation,
  mayCreate = true,
): Promise<Target> {
  const database = (path ?? '').split('/').filter(name => name !== '')
  if (url !== undefined) {
    if (secret === undefined) throw new StartError('--url needs a --secret (or TERRARIUM_SECRET)')
    const wait = (milliseconds: number) =>
      new Promise<void>(resolve => systemTimers.after(milliseconds, resolve))
    return { connection: remoteConnection(url, secret, wait), database }
  }
  if (mayCreate) prepareDataFolder(config.data)
  else if (!existsSync(config.data)) throw new StartError(`there is no data folder ${config.data}`)
  const release = await explained(async () => claimFolder(config.data))
  try {
    // Nobody else can use the folder meanwhile, so the secret need not be known to anybody.
    const rootSecret = Buffer.from(systemRandom.bytes(24)).toString('base64url')
    const log = pino({ level: 'warn' }, pino.destination({ fd: 2, sync: true }))
    const part = { worker: 0, background: true }
    const opened = await explained(() => openEngine(config, rootSecret, log, part))
    const close = async () => {
      await opened.close()
      await release()
    }
    return { connection: localConnection(config.data, { ...opened, close }, rootSecret), database }
  } catch (cause) {
    await release()
    throw cause
  }
}

/** Turns the failures of imports and exports into lines for the user. */
export async function withTransferErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (cause) {
    if (cause instanceof TransferError) throw new StartError(cause.message)
    throw cause
  }
}
