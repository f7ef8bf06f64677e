// Moves what a data directory holds into a shared store, and back.

import type { Config } from '../../app/config/settings.ts'
import { noteMoved, prepareDataFolder } from '../../app/data-folder.ts'
import { claimFolder } from '../../storage/kv/lmdb-claim.ts'
import { storeBytes } from '../../storage/kv/lmdb-copy.ts'
import { moveBack } from '../backup-folder.ts'
import { StartError } from '../command.ts'
import { addressOf, fillShared, holdsData, isShared } from '../shared-store.ts'

/** Fills the shared store from the data directory; `back`: the other way. Resolves with the exit status. */
export async function migrate(config: Config, back: boolean): Promise<number> {
  if (!isShared(config)) throw new StartError('which database? Give --store or TERRARIUM_STORE')
  if (back) {
    const { bytes, time } = await moveBack(config, config.data)
    process.stdout.write(`moved ${bytes} bytes as of transaction time ${time} to ${config.data}\n`)
    return 0
  }
  if (!holdsData(config.data)) throw new StartError(`there is no data in ${config.data}`)
  prepareDataFolder(config.data)
  const release = claimFolder(config.data)
  try {
    const { keys, bytes, time } = await fillShared(config, config.data, storeBytes(config.data))
    noteMoved(config.data, addressOf(config))
    process.stdout.write(
      `moved ${keys} keys, ${bytes} bytes as of transaction time ${time} to ${addressOf(config)}\n`,
    )
    return 0
  } finally {
    await release()
  }
}
