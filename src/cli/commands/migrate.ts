// `terrarium migrate`: moves what a data directory holds into a database that several machines share, and back.

import { claimFolder } from '../../kv/lmdb-claim.ts'
import { storeBytes } from '../../kv/lmdb-copy.ts'
import { moveBack } from '../backup-folder.ts'
import { command, type Invocation, StartError } from '../command.ts'
import { explained, prepareDataFolder } from '../data-folder.ts'
import { addressOf, fillShared, holdsData, isShared } from '../shared-store.ts'

const options = {
  back: {
    kind: 'switch',
    default: false,
    doc: 'From the database into the data directory, which has to be new or empty; nodes may go on meanwhile, but what they write after that is not in it.',
  },
} as const

/** Moves data between a folder and a shared store. */
export const migrateCommand = command({
  name: 'migrate',
  summary: 'Moves what a data directory holds into a database that several machines share, or back.',
  description: [
    'The service over the data directory has to be stopped. A migration that was interrupted goes on where it stopped when it is started again, in either direction; until the first has ended, no node starts on the database. The folder stays as it is.',
  ],
  options,
  settings: ['data', 'store', 'storeSchema', 'logLevel'],
  examples: [
    [
      'migrate --data ./data --store postgres://terrarium@db.example/terrarium',
      'Moves the folder ./data into the database:',
    ],
  ],
  run,
})

async function run({ config, options: { back } }: Invocation<typeof options>): Promise<number> {
  if (!isShared(config)) throw new StartError('which database? Give --store or TERRARIUM_STORE')
  if (back) {
    const { bytes, time } = await moveBack(config, config.data)
    process.stdout.write(`moved ${bytes} bytes as of transaction time ${time} to ${config.data}\n`)
    return 0
  }
  if (!holdsData(config.data)) throw new StartError(`there is no data in ${config.data}`)
  prepareDataFolder(config.data)
  const release = await explained(async () => claimFolder(config.data))
  try {
    const { keys, bytes, time } = await fillShared(config, config.data, storeBytes(config.data))
    process.stdout.write(
      `moved ${keys} keys, ${bytes} bytes as of transaction time ${time} to ${addressOf(config)}\n`,
    )
    return 0
  } finally {
    await release()
  }
}
