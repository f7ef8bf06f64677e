// `terrarium backup FOLDER` and `terrarium restore FOLDER`.

import { resolve } from 'node:path'
import type { Config } from '../../config/settings.ts'
import { backUp, type Copied, restore } from '../backup-folder.ts'
import { command, type Invocation } from '../command.ts'

/** Copies a data directory. */
export const backupCommand = command({
  name: 'backup',
  summary:
    'Copies everything stored, as of one transaction, to a new folder; the service may go on meanwhile.',
  operands: [{ name: 'FOLDER', doc: 'Where the backup goes; new or empty.' }],
  settings: ['data', 'store', 'storeSchema'],
  run: invocation => run(invocation, 'backed up', (folder, config) => backUp(config, folder)),
})

/** The way back. */
export const restoreCommand = command({
  name: 'restore',
  summary: 'Copies a backup to a data directory, or a shared store, that is new or empty.',
  operands: [{ name: 'FOLDER', doc: 'The backup.' }],
  settings: ['data', 'store', 'storeSchema'],
  run: invocation => run(invocation, 'restored', restore),
})

async function run(
  { operands: [word = ''], config }: Invocation<Readonly<Record<never, never>>>,
  done: string,
  copy: (folder: string, config: Config) => Promise<Copied>,
): Promise<number> {
  const { bytes, time } = await copy(resolve(word), config)
  process.stdout.write(`${done} ${bytes} bytes as of transaction time ${time}\n`)
  return 0
}
