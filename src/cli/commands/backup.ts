// `terrarium backup FOLDER` and `terrarium restore FOLDER`.

import { resolve } from 'node:path'
import { readConfig, type SettingName, UsageError } from '../../config.ts'
import { backUp, type Copied, restore } from '../backup-folder.ts'
import type { Command } from '../command.ts'

const settings: readonly SettingName[] = ['data']

export const backupCommand: Command = {
  doc: 'Copies everything stored, as of one transaction, to a new folder; the service may go on meanwhile.',
  parameter: 'FOLDER',
  settings,
  run: words => run(words, 'backed up', (folder, data) => backUp(data, folder)),
}

export const restoreCommand: Command = {
  doc: 'Copies a backup to a data folder that is new or empty.',
  parameter: 'FOLDER',
  settings,
  run: words => run(words, 'restored', restore),
}

async function run(
  [word, ...flags]: readonly string[],
  done: string,
  copy: (folder: string, data: string) => Promise<Copied>,
): Promise<number> {
  if (word === undefined || word.startsWith('-')) throw new UsageError('the folder of the backup is missing')
  const folder = resolve(word)
  const { data } = readConfig(flags, process.env, settings)
  const { bytes, time } = await copy(folder, data)
  process.stdout.write(`${done} ${bytes} bytes as of transaction time ${time}\n`)
  return 0
}
