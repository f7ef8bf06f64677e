// `terrarium export FOLDER`: exports a database to files that `terrarium import` and other programs can read.

import { command } from '../command.ts'
import { exportOptions } from '../transfer-options.ts'

/** Exports a database. */
export const exportCommand = command({
  name: 'export',
  summary: 'Exports a database, with its schema, keys and child databases, to a new folder.',
  description: [
    "Writes the layout of the hosted service's snapshot exports, metadata_00.json and data/collections/NAME/…, all as of one time, while writes continue. Also writes schema/ with .fql and .fsl files and the hashes of keys, databases/NAME/ with the same of each child database, and with --history the folder history/. Names that are not valid file names are percent-encoded.",
    'Passwords and secrets are exported only as hashes. `terrarium import` restores the whole export.',
  ],
  operands: [{ name: 'FOLDER', doc: 'New or empty folder for the export.' }],
  options: exportOptions,
  settings: ['data'],
  examples: [
    [
      'export --database shop ./shop-export',
      'Exports the database "shop" of the data directory ./data, whether it is served or not:',
    ],
    ['export --gzip --history ./everything', 'Exports all databases with their history:'],
    [
      'export --database shop --collection orders --at 2026-01-31T12:00:00Z ./orders',
      'Exports the documents of a collection as they were:',
    ],
  ],
  run: async invocation => (await import('../actions/export.ts')).run(invocation),
})
