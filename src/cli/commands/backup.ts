// `terrarium backup FOLDER` and `terrarium restore FOLDER`.

import { resolve } from 'node:path'
import { backUp, type Copied, restore } from '../backup-folder.ts'
import { command, type Invocation } from '../command.ts'

/** Copies a data folder. */
export const backupCommand = command({
  name: 'backup',
  summary:
    'Copies everything stored, as of one transaction, to a new folder; the service may go on meanwhile.',
  operands: [{ name: 'FOLDER', doc: 'Where the backup goes; new or empty.' }],
  settings: ['data'],
  run: invocation => run(invocation, 'backed up', (folder, data) => backUp(data, folder)),
})

/** The way back. */
export const restoreCommand = command({
  name: 'restore',
  summary: 'Copies a backup to a data folder that is new or empty.',
  operands: [{ name: 'FOLDER', doc: 'The backup.' }],
  settings: ['data'],
  run: invocation => run(invocation, 'restored', restore),
})

async function run(
  { operands: [word = ''], config: { data } }: Invocation<Readonly<Record<never, never>>>,
  done: string,
  copy: (folder: string, data: string) => Promise<Copied>,
): Promise<number> {
  const { bytes, time } = await copy(resolve(word), data)
  process.stdout.write(`${done} ${bytes} bytes as of transaction time ${time}\n`)
  return 0
}
