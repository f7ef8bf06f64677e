// What imports and exports take, apart from how they are done: `--help` needs no more.

import { clientOptions } from './client/options.ts'

/** The options that say which database is meant; with the setting `data`. */
const targetOptions = {
  url: clientOptions.url,
  secret: {
    ...clientOptions.secret,
    doc: "The root secret, or that of an admin key. Prefer the environment variable: others can see flags. Without it, the data directory's root secret.",
  },
  database: clientOptions.database,
} as const

/** The options of an export. */
export const exportOptions = {
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
  gzip: { kind: 'switch', doc: 'Packs the data files.' },
  history: {
    kind: 'switch',
    doc: 'Writes older versions and deleted documents, too, as far as they are kept.',
  },
} as const

/** The options of an import. */
export const importOptions = {
  ...targetOptions,
  collection: {
    kind: 'string',
    doc: 'The collection of what does not say it; without it the name of the file.',
  },
  type: {
    kind: 'string',
    placeholder: 'FIELD::TYPE',
    multiple: true,
    doc: 'The type of a field in formats that cannot tell: Product.due::date, photo::bytes, order.by::ref=User.',
  },
  schema: {
    kind: 'path',
    doc: 'A folder of .fsl files: they are pushed before the documents come in, and their types of fields count like --type.',
  },
  encoding: {
    kind: 'string',
    doc: 'The encoding of files that are not UTF-8, such as windows-1252 or latin1. UTF-16 is recognised by the mark that it begins with.',
  },
  onConflict: {
    kind: 'choice',
    default: 'fail',
    choices: ['fail', 'keep', 'replace'],
    placeholder: 'WHAT',
    doc: 'What to do with a document that is there with another content.',
  },
  skipBad: {
    kind: 'integer',
    default: 0,
    max: 1_000_000_000,
    doc: 'How many bad records are passed over and reported before the import ends.',
  },
  dryRun: { kind: 'switch', doc: 'Reads and checks everything and writes nothing.' },
  report: { kind: 'path', placeholder: 'FILE', doc: 'Writes the report as JSON, too.' },
  allowIncomplete: {
    kind: 'switch',
    doc: 'Imports an export of which parts are missing by its own metadata.',
  },
  allowShortRows: {
    kind: 'switch',
    doc: 'Rows of CSV may have fewer cells than there are columns.',
  },
  treatEmptyCsvCellsAs: {
    kind: 'choice',
    default: 'null',
    choices: ['null', 'empty'],
    placeholder: 'WHAT',
    doc: 'What an empty cell of CSV becomes: null or an empty text.',
  },
  state: {
    kind: 'path',
    doc: 'Where the progress of unfinished imports is kept; by default ~/.local/state/terrarium/imports.',
  },
} as const
