// `terrarium import FILE|FOLDER…`: brings data from exports, dumps and tables into a database.

import { command } from '../command.ts'
import { importOptions } from '../transfer-options.ts'

/** Imports files. */
export const importCommand = command({
  name: 'import',
  summary: 'Imports exports, dumps, tables and schema files of the hosted service.',
  description: [
    'Recognises by content, also when packed with gzip: snapshot exports (tagged and simple), what scripts made with the drivers of versions 4 and 10, JSON, JSONL and CSV, dumps of schema objects, .fsl files.',
    'Keeps ids, times, references, ttl and password hashes. An import that was interrupted goes on where it was when it is started again; a document that is there with the same content is left alone, so importing twice changes nothing.',
    'Ends with a report of what was read, written, in conflict or bad, and what could not be kept.',
  ],
  operands: [
    { name: 'FILE|FOLDER', doc: 'What to import; folders with all that is in them.', multiple: true },
  ],
  options: importOptions,
  settings: ['data'],
  examples: [
    [
      'import --database shop ./export',
      'Imports a snapshot export into the database "shop" of the folder ./data, which may be served or not:',
    ],
    [
      'import --url https://db.example.org users.jsonl coupons.csv --type until::date',
      'Imports files into a service elsewhere, with the secret in TERRARIUM_SECRET:',
    ],
  ],
  statuses: [[1, 'It could not be finished; standard error says why. Started again it goes on.']],
  run: async invocation => (await import('../actions/import.ts')).run(invocation),
})
