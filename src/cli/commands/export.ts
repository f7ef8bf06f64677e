// `terrarium export FOLDER`: everything in a database as files that other programs, and `terrarium import`, can read.

import { resolve } from 'node:path'
import { systemRandom } from '../../base/random.ts'
import { type ExportProgress, runExport } from '../../transfer/exporter.ts'
import { formatTime, timeFromMicros } from '../../values/time.ts'
import { command, type Invocation } from '../command.ts'
import { withRate } from '../progress.ts'
import { openTarget, targetOptions, withTransferErrors } from '../transfer-target.ts'

const options = {
  ...targetOptions,
  format: {
    kind: 'choice',
    default: 'tagged',
    choices: ['tagged', 'simple'],
    placeholder: 'FORMAT',
    doc: 'How values are written: tagged keeps all types, simple is easier for other programs.',
  },
  files: {
    kind: 'choice',
    default: 'jsonl',
    choices: ['jsonl', 'json'],
    placeholder: 'KIND',
    doc: 'A document a line, or one array a file.',
  },
  gzip: { kind: 'switch', default: false, doc: 'Packs the data files.' },
  history: {
    kind: 'switch',
    default: false,
    doc: 'Writes older versions and deleted documents, too, as far as they are kept.',
  },
} as const

/** Exports a database. */
export const exportCommand = command({
  name: 'export',
  summary: 'Exports a database, with its schema, keys and child databases, to a new folder.',
  description: [
    "Writes the layout of the hosted service's snapshot exports: metadata_00.json and data/collections/NAME/…, all as of one time, while others go on writing. Beside it: schema/ with .fql files and the hashes of keys, databases/NAME/ with the same of each child database, and history/ if asked for.",
    'Passwords and secrets are in it as hashes only. `terrarium import` brings all of it back.',
  ],
  operands: [{ name: 'FOLDER', doc: 'Where the export goes; new or empty.' }],
  options,
  settings: ['data'],
  examples: [
    [
      'export --database shop ./shop-export',
      'Exports the database "shop" of the folder ./data, served or not:',
    ],
    ['export --gzip --history ./everything', 'Exports all databases with their history:'],
  ],
  run,
})

async function run(invocation: Invocation<typeof options>): Promise<number> {
  const { operands, options: given } = invocation
  return withTransferErrors(async () => {
    const folder = resolve(operands[0] ?? '')
    const target = await openTarget(invocation, false)
    try {
      const progress: ExportProgress = { readBytes: 0, totalBytes: 0, documents: 0, phase: '' }
      const { at, databases, documents, lost } = await withRate('export', progress, () =>
        runExport(
          target.connection,
          folder,
          {
            database: target.database,
            format: given.format as 'tagged' | 'simple',
            fileFormat: given.files as 'json' | 'jsonl',
            gzip: given.gzip,
            history: given.history,
            id: String(BigInt(`0x${systemRandom.hex(7)}`)),
          },
          progress,
        ),
      )
      const time = formatTime(timeFromMicros(at))
      process.stdout.write(`exported ${documents} documents of ${databases} databases as of ${time}\n`)
      for (const [what, count] of lost) process.stdout.write(`lost: ${what}: ${count}\n`)
      return 0
    } finally {
      await target.connection.close()
    }
  })
}
