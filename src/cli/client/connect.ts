// Finds the service for the commands that send queries: a service at a URL, the service on a data directory, or a
// temporary service on a directory that is not served.

import { existsSync } from 'node:fs'
import { UsageError } from '../../app/config/read-config.ts'
import type { Config } from '../../app/config/settings.ts'
import { FolderInUseError } from '../../storage/kv/errors.ts'
import { StartError } from '../command.ts'
import { readRootSecret } from '../secret-file.ts'
import { readAddress } from '../service-address.ts'
import { QueryConnection, type QueryScope } from './connection.ts'
import type { ClientChoice } from './options.ts'
import { startOwnService } from './own-service.ts'

/** Finds the service, or starts one. Throws {@link UsageError} or {@link StartError}. */
export async function connect(choice: ClientChoice, config: Config): Promise<QueryConnection> {
  const { database, as, timeout: timeoutMs } = choice
  const scope: QueryScope = { database, as }
  const { url } = choice
  if (url !== undefined) {
    if (choice.secret === undefined) throw new UsageError('--url needs --secret (or TERRARIUM_SECRET)')
    return new QueryConnection({ url, secret: choice.secret, scope, timeoutMs })
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
    return new QueryConnection({ url: service.url, secret, scope, timeoutMs, onClose: service.stop })
  }
  const address = readAddress(data)
  if (address === undefined) {
    throw new StartError(
      `the data directory ${data} is served, but its address is unknown: give --url and --secret`,
    )
  }
  const secret = choice.secret ?? config.rootSecret ?? readRootSecret(data)
  if (secret === undefined) {
    throw new StartError(
      `the data directory ${data} is served by ${address} with a configured root secret: give --secret`,
    )
  }
  return new QueryConnection({ url: address, secret, scope, timeoutMs })
}

/** Connects, runs `use` and closes the connection; resolves with the exit status 0. */
export async function withConnection(
  choice: ClientChoice,
  config: Config,
  use: (connection: QueryConnection) => Promise<void>,
): Promise<number> {
  const connection = await connect(choice, config)
  try {
    await connection.check()
    await use(connection)
    return 0
  } finally {
    await connection.close()
  }
}

async function isServed(folder: string): Promise<boolean> {
  // Imported here, because the storage engine is only needed for a data directory.
  const { claimFolder } = await import('../../storage/kv/lmdb-claim.ts')
  try {
    const release = claimFolder(folder)
    await release()
    return false
  } catch (cause) {
    if (cause instanceof FolderInUseError) return true
    throw cause
  }
}
