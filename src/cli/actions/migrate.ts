// Moves the data of a data directory to a shared store, or back.

import type { Config } from '../../app/config/settings.ts'
import { prepareDataFolder, writeMovedTo } from '../../app/data-folder.ts'
import { claimFolder } from '../../storage/lmdb/claim.ts'
import { storeBytes } from '../../storage/log/store-copy.ts'
import { moveBack } from '../backup-folder.ts'
import { CommandError } from '../command.ts'
import { addressOf, fillShared, hasOwnData, isShared } from '../shared-store.ts'

/**
 * Fills the data directory from the shared store if `back` is true, else the reverse. Resolves with the exit status.
 */
export async function migrate(config: Config, back: boolean): Promise<number> {
  if (!isShared(config))
    throw new CommandError('migrate needs the shared store: give --store or TERRARIUM_STORE')
  if (back) {
    const { bytes, time } = await moveBack(config, config.data)
    process.stdout.write(`moved ${bytes} bytes as of transaction time ${time} to ${config.data}\n`)
    return 0
  }
  if (!hasOwnData(config.data)) throw new CommandError(`there is no data in ${config.data}`)
  prepareDataFolder(config.data)
  const release = claimFolder(config.data)
  try {
    const { keys, bytes, time } = await fillShared(config, config.data, storeBytes(config.data))
    writeMovedTo(config.data, addressOf(config))
    process.stdout.write(
      `moved ${keys} keys, ${bytes} bytes as of transaction time ${time} to ${addressOf(config)}\n`,
    )
    return 0
  } finally {
    await release()
  }
}
