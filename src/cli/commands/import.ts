// `terrarium import FILE|FOLDER…`: imports exports, dumps and tables into a database.

import { command } from '../command.ts'
import { importOptions } from '../transfer-options.ts'

/** Imports files. */
export const importCommand = command({
  name: 'import',
  summary: 'Imports exports, dumps, tables and schema files of the hosted service.',
  description: [
    'Detects formats by content, also in gzip files: snapshot exports (tagged and simple), output of scripts with the drivers of versions 4 and 10, JSON, JSONL and CSV, dumps of schema objects, .fsl files.',
    'Keeps ids, times, references, ttl and password hashes. Run the command again to continue an interrupted import. A document that exists with the same content stays unchanged, so a second import changes nothing.',
    'Prints a report: records read, written, in conflict or bad, and content that was lost.',
  ],
  operands: [
    {
      name: 'FILE|FOLDER',
      doc: 'Files and folders to import; a folder with all its content.',
      multiple: true,
    },
  ],
  options: importOptions,
  settings: ['data'],
  examples: [
    [
      'import --database shop ./export',
      'Imports a snapshot export into the database "shop" of the data directory ./data, whether it is served or not:',
    ],
    [
      'import --url https://db.example.org users.jsonl coupons.csv --type until::date',
      'Imports files into a remote service, with the secret in TERRARIUM_SECRET:',
    ],
  ],
  statuses: [
    [1, 'The import is incomplete; standard error has the reason. Run the command again to continue.'],
  ],
  run: async invocation => (await import('../actions/import.ts')).run(invocation),
})
