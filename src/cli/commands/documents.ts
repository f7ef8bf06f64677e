// Commands for many documents at once. `import` and `export` use files that other programs can read; `rewind` restores
// the documents of a collection as they were at a given time; `each` changes documents one page at a time.

import { clientOptions, jsonOption } from '../client/options.ts'
import { type Command, command } from '../command.ts'
import { timeFault } from '../time-argument.ts'
import { exportOptions, importOptions, targetOptions } from '../transfer-options.ts'

const batchOption = {
  kind: 'integer',
  default: 500,
  min: 1,
  max: 10_000,
  doc: 'Documents per transaction.',
} as const

export const documentCommands: readonly Command[] = [
  command({
    name: 'import',
    summary: 'Imports exports, dumps, tables and schema files of the hosted service.',
    description: [
      'Detects formats by content, also in gzip files: snapshot exports (tagged and simple), output of scripts with the drivers of versions 4 and 10, JSON, JSONL and CSV, dumps of schema objects, .fsl files.',
      'Keeps ids, times, references, ttl and password hashes. Run the command again to continue an interrupted import. A document that exists with the same content stays unchanged, so a second import changes nothing.',
      'Prints a report: records read, written, equal or bad, and content that was lost.',
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
  }),
  command({
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
  }),
  command({
    name: 'rewind',
    summary: 'Restores the documents of a collection to a time in its history.',
    description: [
      'Documents that were deleted since that time are created again with their ids, changed ones get their old data and ttl back, ' +
        'and those that were created since are deleted. Each change is a new version: the history stays, and a rewind can be undone.',
      'The command needs the root secret or an admin key. It works in batches, one transaction each. Readers may see a part of the ' +
        'changes, and documents that are created meanwhile stay. To continue an interrupted rewind, run the same command again.',
      'The history must contain the time. Its length is history_days of the collection (by default 30 days for collections of ' +
        'version 4 and 0 for those of version 10) and 15 minutes more. If it is too short, the command prints the earliest possible time.',
    ],
    options: {
      collection: { kind: 'string', placeholder: 'NAME', doc: 'The collection.' },
      at: {
        kind: 'string',
        placeholder: 'TIME',
        check: timeFault,
        doc: 'The time, such as 2026-01-31T12:00:00Z, or the ts of a version in microseconds.',
      },
      dryRun: { kind: 'switch', doc: 'Counts the changes and writes nothing.' },
      batch: batchOption,
      ...jsonOption,
      ...targetOptions,
    },
    settings: ['data'],
    statuses: [[1, 'The history does not reach the time, the collection did not exist, or a batch failed.']],
    examples: [
      [
        'rewind --database shop --collection orders --at 2026-01-31T12:00:00Z --dry-run',
        'Counts the documents of ./data that would change:',
      ],
    ],
    run: async ({ options, config }) => (await import('../actions/rewind.ts')).rewind(options, config),
  }),
  command({
    name: 'each',
    summary: 'Applies a function to every document of a set, in batches.',
    description: [
      'Both arguments are expressions of version 10: a set, and a function of one element. Each page of the set is one transaction, ' +
        'so readers may see a part of the changes.',
      'With --cursor, the command stores its progress after each page in a file, and removes the file at the end. After an error or ' +
        'an interruption, run the same command again to continue. The last page before a crash may be changed twice, so the ' +
        'function should give the same result when it runs twice.',
      'Pages contain the elements that the set had at the first page, and the current documents. The progress is valid while the ' +
        "collection's history contains the time of the first page: history_days, and 15 minutes more.",
    ],
    operands: [
      { name: 'SET', doc: 'A set, such as Orders.where(.status == "open").' },
      { name: 'FUNCTION', doc: 'The change of each element, such as d => d.update({ status: "done" }).' },
    ],
    options: {
      batch: batchOption,
      cursor: {
        kind: 'path',
        placeholder: 'FILE',
        doc: 'File for the progress, from which the command can continue.',
      },
      dryRun: { kind: 'switch', doc: 'Counts the elements and changes nothing.' },
      ...clientOptions,
    },
    settings: ['data'],
    statuses: [[1, 'A page failed or the service could not be reached; earlier pages are changed.']],
    examples: [
      [
        `each 'Orders.where(.isOpen)' 'd => d.update({ isOpen: false })' --cursor open.cursor`,
        'Closes all open orders of ./data:',
      ],
    ],
    run: async ({ operands: [set = '', each = ''], options, config }) =>
      (await import('../actions/each.ts')).changeEach(set, each, options, config),
  }),
]
