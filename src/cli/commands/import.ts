// `terrarium import FILE|FOLDER…`: brings data from exports, dumps and tables into a database.

import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { FieldTypes } from '../../transfer/field-types.ts'
import { readFsl } from '../../transfer/fsl.ts'
import { type ImportProgress, runImport } from '../../transfer/importer.ts'
import { findSources } from '../../transfer/sources.ts'
import { command, type Invocation, StartError } from '../command.ts'
import { withRate } from '../progress.ts'
import { openTarget, targetOptions, withTransferErrors } from '../transfer-target.ts'

const options = {
  ...targetOptions,
  collection: {
    kind: 'string',
    default: undefined,
    placeholder: 'NAME',
    doc: 'The collection of what does not say it; without it the name of the file.',
  },
  type: {
    kind: 'string',
    default: undefined,
    placeholder: 'FIELD::TYPE',
    multiple: true,
    doc: 'The type of a field in formats that cannot tell: Product.due::date, photo::bytes, order.by::ref=User.',
  },
  schema: {
    kind: 'path',
    default: undefined,
    placeholder: 'FOLDER',
    doc: 'A folder of .fsl files, whose types of fields count like --type and whose collections are created.',
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
    min: 0,
    max: 1_000_000_000,
    placeholder: 'N',
    doc: 'How many bad records are passed over and reported before the import ends.',
  },
  dryRun: { kind: 'switch', default: false, doc: 'Reads and checks everything and writes nothing.' },
  report: { kind: 'path', default: undefined, placeholder: 'FILE', doc: 'Writes the report as JSON, too.' },
  allowIncomplete: {
    kind: 'switch',
    default: false,
    doc: 'Imports an export of which parts are missing by its own metadata.',
  },
  allowShortRows: {
    kind: 'switch',
    default: false,
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
    default: undefined,
    placeholder: 'FOLDER',
    doc: 'Where the progress of unfinished imports is kept; by default ~/.local/state/terrarium/imports.',
  },
} as const

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
  options,
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
  run,
})

async function run(invocation: Invocation<typeof options>): Promise<number> {
  const { operands, options: given } = invocation
  return withTransferErrors(async () => {
    const types = new FieldTypes()
    for (const text of given.type ?? []) types.add(text)
    const schema = given.schema === undefined ? [] : schemaFiles(given.schema)
    for (const file of schema) readFsl(await readFile(file, 'utf8'), types)
    const sources = await findSources([...schema, ...operands.map(word => resolve(word))], given.collection)
    if (sources.files.length === 0)
      throw new StartError(
        `there is nothing to import in ${operands.join(', ')}: ${sources.passedOver.join(', ')}`,
      )
    const target = await openTarget(invocation, !given.dryRun)
    try {
      const progress: ImportProgress = { readBytes: 0, totalBytes: 0, documents: 0, phase: 'schema' }
      const report = await withRate('import', progress, () =>
        runImport(
          target.connection,
          sources,
          {
            database: target.database,
            types,
            onConflict: given.onConflict as 'fail' | 'keep' | 'replace',
            dryRun: given.dryRun,
            skipBad: given.skipBad,
            allowIncomplete: given.allowIncomplete,
            allowShortRows: given.allowShortRows,
            emptyCells: given.treatEmptyCsvCellsAs as 'null' | 'empty',
            stateFolder: given.state ?? defaultStateFolder(),
            meaning: [
              ...(given.type ?? []),
              given.schema ?? '',
              given.collection ?? '',
              given.treatEmptyCsvCellsAs,
            ],
          },
          progress,
        ),
      )
      if (given.report !== undefined) writeFileSync(given.report, report.json())
      process.stdout.write(report.text())
      return 0
    } finally {
      await target.connection.close()
    }
  })
}

function schemaFiles(path: string): readonly string[] {
  if (!statSync(path, { throwIfNoEntry: false })) throw new StartError(`${path} does not exist`)
  if (!statSync(path).isDirectory()) return [path]
  const names = readdirSync(path, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.fsl'))
  return names.sort().map(name => join(path, name))
}

function defaultStateFolder(): string {
  const base = process.env.XDG_STATE_HOME || join(homedir(), '.local/state')
  return join(base, 'terrarium/imports')
}
