// `terrarium backup FOLDER` and `terrarium restore FOLDER`.

import { resolve } from 'node:path'
import { command } from '../command.ts'

/** Copies a data directory. */
export const backupCommand = command({
  name: 'backup',
  summary: 'Copies all data, as of one transaction, to a new folder; the service may keep running.',
  operands: [{ name: 'FOLDER', doc: 'New or empty folder for the backup.' }],
  settings: ['data', 'store', 'storeSchema'],
  async run({ operands: [folder = ''], config }) {
    const { backUp } = await import('../backup-folder.ts')
    return report('backed up', await backUp(config, resolve(folder)))
  },
})

/** Restores a backup. */
export const restoreCommand = command({
  name: 'restore',
  summary: 'Copies a backup to a new or empty data directory or shared store.',
  operands: [{ name: 'FOLDER', doc: 'The backup.' }],
  settings: ['data', 'store', 'storeSchema'],
  async run({ operands: [folder = ''], config }) {
    const { restore } = await import('../backup-folder.ts')
    return report('restored', await restore(resolve(folder), config))
  },
})

function report(done: string, { bytes, time }: { readonly bytes: number; readonly time: number }): number {
  process.stdout.write(`${done} ${bytes} bytes as of transaction time ${time}\n`)
  return 0
}
