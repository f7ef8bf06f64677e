// Imports a file with the code of `terrarium import`, with the rights of the secret.

import type { OnConflict } from '../../../src/transfer/batch-writer.ts'
import { FieldTypes } from '../../../src/transfer/field-types.ts'
import type { EmptyCells } from '../../../src/transfer/formats/rows.ts'
import { type ImportOptions, type ImportProgress, runImport } from '../../../src/transfer/importer.ts'
import type { Report } from '../../../src/transfer/report.ts'
import type { SourceFile } from '../../../src/transfer/sources.ts'
import { currentSecret } from '../session.ts'
import { rememberImport } from './import-memory.ts'
import { sha256 } from './sha256.ts'
import { transferConnection } from './transfer-connection.ts'

/** Type names of the option `--type` of `terrarium import`. */
export const typeNames = [
  'string',
  'long',
  'double',
  'number',
  'bool',
  'time',
  'date',
  'dateString',
  'dateEpochMillis',
  'dateEpochSeconds',
  'uuid',
  'bytes',
] as const

export type TypeName = (typeof typeNames)[number]

/** Options are those of `terrarium import`. */
export interface ImportPlan {
  readonly file: SourceFile
  /** Types by field. */
  readonly types: ReadonlyMap<string, TypeName>
  readonly emptyCells: EmptyCells
  readonly allowShortRows: boolean
  /** The field `id` of a JSON object is the id of its document. */
  readonly hasRowIds: boolean
  readonly onConflict: OnConflict
  /** Lists documents that cannot be imported, and continues. */
  readonly skipsBad: boolean
  /** The collection that receives all documents. If undefined, a document that names a collection goes there. */
  readonly into: string | undefined
}

/** The part of a plan that the user chooses. The file determines the other members of the plan. */
export type ImportChoices = Omit<ImportPlan, 'file' | 'into'> & {
  /** The encoding of the file. If the text is empty, the encoding is detected. */
  readonly encoding: string
  /** Documents that name another collection are imported into that collection. */
  readonly keepsCollections: boolean
}

export function fieldTypesOf(types: ImportPlan['types']): FieldTypes {
  const read = new FieldTypes()
  for (const [field, type] of types) read.set(undefined, field, type)
  return read
}

export type { ImportProgress }

/** `progress` changes while the import runs. Throws `TransferError`, `ServiceError`, or an AbortError. */
export async function importDocuments(
  plan: ImportPlan,
  progress: ImportProgress,
  signal: AbortSignal,
): Promise<Report> {
  const { allowShortRows, emptyCells, file, hasRowIds, into, onConflict, skipsBad, types } = plan
  const options: ImportOptions = {
    database: [],
    types: fieldTypesOf(types),
    onConflict,
    dryRun: false,
    skipBad: skipsBad ? Number.MAX_SAFE_INTEGER : 0,
    allowIncomplete: false,
    allowShortRows,
    hasRowIds,
    emptyCells,
    into,
    meaning: [...types]
      .map(([field, type]) => `${field}::${type}`)
      .concat(file.encoding, emptyCells, into ?? '', hasRowIds ? 'row-ids' : []),
    remember: rememberImport,
    sha256,
    signal,
  }
  const sources = {
    files: [file],
    databases: [],
    collections: [],
    incomplete: [],
    passedOver: [],
    isExport: false,
  }
  return runImport(transferConnection(currentSecret.value, signal), sources, options, progress)
}
