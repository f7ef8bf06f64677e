// Imports a file with the code of `terrarium import`: the same reader, batches, validation, report and endpoints. The
// import has the rights of the secret.

import type { OnConflict } from '../../../src/transfer/batch-writer.ts'
import { schemaFilesOf } from '../../../src/transfer/connection.ts'
import { FieldTypes } from '../../../src/transfer/field-types.ts'
import {
  type ImportConnection,
  type ImportOptions,
  type ImportProgress,
  runImport,
} from '../../../src/transfer/importer.ts'
import {
  missingRequestText,
  readWriteResponse,
  transferPaths,
  writeRequestText,
} from '../../../src/transfer/messages.ts'
import type { Report } from '../../../src/transfer/report.ts'
import type { SourceFile } from '../../../src/transfer/sources.ts'
import { databasePath } from '../router.ts'
import { scope, session } from '../session.ts'
import type { Query } from '../wire/json.ts'
import { callApi, run, runText, type Scope } from './client.ts'
import { ServiceError } from './faults.ts'
import { rememberImport } from './import-memory.ts'
import { sha256 } from './sha256.ts'

/** Names of types of fields as `terrarium import --type` takes them. */
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

/** One of {@link typeNames}. */
export type TypeName = (typeof typeNames)[number]

/** A file to import and its options, which correspond to the options of `terrarium import`. */
export interface ImportPlan {
  readonly file: SourceFile
  /** By the name of a field. */
  readonly types: ReadonlyMap<string, TypeName>
  readonly emptyCells: 'null' | 'empty'
  readonly allowShortRows: boolean
  /** The field `id` of a JSON object is the id of its document. */
  readonly hasRowIds: boolean
  readonly onConflict: OnConflict
  /** Documents that cannot be imported are listed and do not stop the import. */
  readonly skipsBad: boolean
  /** The collection that receives all documents; undefined: each document goes into its own. */
  readonly into: string | undefined
}

/** The options that the user chooses. The file determines the rest of the plan. */
export type ImportChoices = Omit<ImportPlan, 'file' | 'into'> & {
  /** The label of an encoding; empty to detect it. */
  readonly encoding: string
  /** Documents of other collections keep their collection. */
  readonly keepsCollections: boolean
}

/** The types of a plan, for the reader. */
export function fieldTypesOf(types: ImportPlan['types']): FieldTypes {
  const read = new FieldTypes()
  for (const [field, type] of types) read.set(undefined, field, type)
  return read
}

/** The progress of an import. */
export type { ImportProgress }

/** Imports a file. `progress` changes while it runs. Throws `TransferError`, {@link ServiceError}, or an AbortError. */
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
  return runImport(connectionOf(scope.value, signal), sources, options, progress)
}

/** A connection for the import code. It is bound to the current database, whichever page the user opens meanwhile. */
function connectionOf(where: Scope, signal: AbortSignal): ImportConnection {
  const send = (path: string, body: string) => patiently(() => runText(body, where, signal, path), signal)
  const database = [...(session.value?.principal.database ?? []), ...databasePath.value].join('/')
  return {
    name: `${location.origin}/${database}`,
    query: async (_path, expression) => (await run(expression as Query, where, signal)).value,
    write: async (_path, records, options) => {
      try {
        const { text } = await send(transferPaths.write, writeRequestText(records, options))
        return readWriteResponse(JSON.parse(text))
      } catch (cause) {
        // A batch of one document, or with references between its documents, cannot be split: its documents are too
        // large.
        const isWhole = records.length === 1 || options.checks === 'together'
        if (!(cause instanceof ServiceError) || cause.status !== 413 || !isWhole) throw cause
        const reason = 'too large for one request'
        return { outcomes: records.map(() => ({ kind: 'bad', reason })), missing: [], unresolved: [] }
      }
    },
    schemaFiles: () =>
      schemaFilesOf(steps =>
        callApi('GET', `/schema/1/${steps.map(encodeURIComponent).join('/')}`, where, undefined, signal),
      ),
    isSchemaStaged: async () => {
      const path = '/schema/1/status'
      const { status } = await callApi<{ status: string }>('GET', path, where, undefined, signal)
      return status !== 'none'
    },
    pushSchema: async (_path, files, dryRun) => {
      const form = new FormData()
      for (const { name, text } of files) form.append(name, new Blob([text]))
      const path = `/schema/1/${dryRun ? 'validate' : 'update'}?override=false&force=true`
      await callApi('POST', path, where, form, signal)
    },
    missing: async (_path, documents) => {
      const { text } = await send(transferPaths.missing, missingRequestText(documents))
      return JSON.parse(text) as readonly boolean[]
    },
  }
}

const attemptsMax = 6
const firstDelayMs = 200
const limitedDelayMs = 1000

/** Retries requests after temporary errors. Writes are idempotent, so a retry is safe. */
async function patiently<T>(send: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await send()
    } catch (cause) {
      const status = cause instanceof ServiceError ? cause.status : undefined
      if (status === 429) attempt = 0
      else if ((status !== 0 && status !== 503) || attempt >= attemptsMax) throw cause
      await delay(status === 429 ? limitedDelayMs : firstDelayMs * 2 ** (attempt - 1))
      signal.throwIfAborted()
    }
  }
}

function delay(ms: number): Promise<void> {
  return new Promise(resolve => setTimeout(resolve, ms))
}
