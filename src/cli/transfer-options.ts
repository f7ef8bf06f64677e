// The options of imports and exports, separate from their actions, so that `--help` loads nothing else.

import { clientOptions, jsonOption } from './client/options.ts'
import { timeFault } from './time-argument.ts'

/** The options that select the database. The setting `data` selects the data directory. */
export const targetOptions = {
  profile: clientOptions.profile,
  url: {
    ...clientOptions.url,
    doc: 'The address of the service; by default the service on the data directory, or the directory itself if no service uses it.',
  },
  secret: {
    ...clientOptions.secret,
    doc: "The root secret, or the secret of an admin key. Prefer the environment variable: other users of the machine can see flags. By default the data directory's root secret.",
  },
  database: clientOptions.database,
} as const

export const exportOptions = {
  ...targetOptions,
  format: {
    kind: 'choice',
    default: 'tagged',
    choices: ['tagged', 'simple'],
    placeholder: 'FORMAT',
    doc: 'Format of values: tagged keeps all types, simple is easier for other programs.',
  },
  files: {
    kind: 'choice',
    default: 'jsonl',
    choices: ['jsonl', 'json', 'csv'],
    placeholder: 'KIND',
    doc: 'jsonl writes one document per line, json one array per file, csv one row per document under a header.',
  },
  gzip: { kind: 'switch', doc: 'Compresses the data files.' },
  at: {
    kind: 'string',
    placeholder: 'TIME',
    check: timeFault,
    doc: 'Exports the documents as of a time in the past, such as 2026-01-31T12:00:00Z or the ts of a version. Exports only documents, without schema, passwords, keys and child databases.',
  },
  collection: {
    kind: 'string',
    placeholder: 'NAME',
    multiple: true,
    doc: 'Exports only the documents of this collection, without schema, passwords, keys and child databases.',
  },
  history: {
    kind: 'switch',
    doc: 'Also writes the retained older versions and deleted documents.',
  },
} as const

export const importOptions = {
  ...targetOptions,
  collection: {
    kind: 'string',
    doc: 'The collection for records that do not name a collection; by default the name of the file.',
  },
  type: {
    kind: 'string',
    placeholder: 'FIELD::TYPE',
    multiple: true,
    doc: 'The type of a field in formats without types: Product.due::date, photo::bytes, order.by::ref=User.',
  },
  schema: {
    kind: 'path',
    doc: 'A folder of .fsl files. They are pushed before the documents are imported, and their field types count like --type.',
  },
  encoding: {
    kind: 'string',
    doc: 'The encoding of files that are not UTF-8, such as windows-1252 or latin1. UTF-16 is detected by its byte order mark.',
  },
  onConflict: {
    kind: 'choice',
    default: 'fail',
    choices: ['fail', 'keep', 'replace'],
    placeholder: 'WHAT',
    doc: 'Treatment of a document that exists with other content.',
  },
  skipBad: {
    kind: 'integer',
    default: 0,
    max: 1_000_000_000,
    doc: 'Number of bad records to skip and report before the import stops.',
  },
  dryRun: { kind: 'switch', doc: 'Reads and checks everything and writes nothing.' },
  ...jsonOption,
  report: { kind: 'path', placeholder: 'FILE', doc: 'Writes the report as JSON, too.' },
  allowIncomplete: {
    kind: 'switch',
    doc: 'Imports an export even if parts are missing according to its metadata.',
  },
  allowShortRows: {
    kind: 'switch',
    doc: 'Rows of CSV may have fewer cells than there are columns.',
  },
  rowIds: {
    kind: 'switch',
    doc: 'Uses the field id of JSON objects as the id of the document; it must be an integer. Without this option, id is a normal field, and documents get new ids.',
  },
  treatEmptyCsvCellsAs: {
    kind: 'choice',
    default: 'null',
    choices: ['null', 'quoted-null', 'empty'],
    placeholder: 'WHAT',
    doc: 'Values of empty CSV cells. With null, an empty cell is null, and a cell "" in quotes is an empty string. With quoted-null, both are null. With empty, both are empty strings.',
  },
  state: {
    kind: 'path',
    doc: 'Folder for the progress of unfinished imports; by default ~/.local/state/terrarium/imports.',
  },
} as const
