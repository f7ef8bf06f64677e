// Connects to the database of an import or export, through a running service or in a data directory that no service
// uses.

import { ResponseLimitError, responseText } from '../base/response-text.ts'
import { networkFailure } from '../base/system-reasons.ts'
import { wait } from '../base/timers.ts'
import type { Engine } from '../engine/engine-contract.ts'
import { defaultApiVersion } from '../fql4/wire/version.ts'
import { type SchemaRequest, schemaOptions, schemaRequestText } from '../fql10/wire/schema-request.ts'
import { importOptions, schemaTextOptions } from '../graphql/wire/import-options.ts'
import { tryJson } from '../values/json.ts'
import type { DatabaseId, Json } from '../values/value.ts'
import { writeJson } from '../values/write-json.ts'
import type { BatchOptions, BatchResult } from './batch-writer.ts'
import {
  missingRequestText,
  pageRequestText,
  readMissingResponse,
  readPageText,
  readSnapshotResponse,
  readWriteResponse,
  transferPaths,
  writeRequestText,
} from './messages.ts'
import type { ExportPage, ExportPageRequest, ExportSnapshot } from './read-page.ts'
import { BadRecord, type DocumentRecord, TransferError } from './record.ts'
import { SchemaAnswer } from './schema-answer.ts'
import type { NamedDocument, TransferService } from './service.ts'

/** Names of databases below the database of the secret, outermost first. Empty for the database of the secret. */
export type DatabasePath = readonly string[]

export class QueryError extends Error {
  override name = 'QueryError'
  /** Of the first error in the response. */
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

interface SchemaFileText {
  readonly name: string
  readonly text: string
}

/** All methods throw {@link TransferError} when the database cannot be reached. */
export interface TransferConnection {
  /** Address of the service or path of the data directory, for messages to the user. */
  readonly name: string
  /** Returns the `resource`. Throws {@link QueryError}. */
  query(path: DatabasePath, expression: Json): Promise<Json>
  /** Match the current definitions. */
  schemaFiles(path: DatabasePath): Promise<readonly SchemaFileText[]>
  /** Empty if there is no GraphQL schema. */
  graphqlSchema(path: DatabasePath): Promise<string>
  /** Merges a GraphQL schema into that of a database. Throws {@link QueryError}. */
  importGraphql(path: DatabasePath, text: string): Promise<void>
  /** A staged schema receives all pushes until it is committed or abandoned. */
  isSchemaStaged(path: DatabasePath): Promise<boolean>
  /**
   * Pushes `files` in addition to the existing files. With `dryRun`, the database only validates `files`. Throws {@link
   * QueryError}.
   */
  pushSchema(path: DatabasePath, files: readonly SchemaFileText[], dryRun: boolean): Promise<void>
  write(path: DatabasePath, records: readonly DocumentRecord[], options: BatchOptions): Promise<BatchResult>
  missing(path: DatabasePath, documents: readonly NamedDocument[]): Promise<readonly boolean[]>
  snapshot(path: DatabasePath): Promise<ExportSnapshot>
  page(path: DatabasePath, request: ExportPageRequest): Promise<ExportPage>
  close(): Promise<void>
}

/** Reads and writes schemas. */
export type SchemaConnection = Pick<
  TransferConnection,
  'query' | 'schemaFiles' | 'isSchemaStaged' | 'pushSchema' | 'graphqlSchema' | 'importGraphql'
>

/** Credential for the database at `path`, which begins at the database of `secret`. */
function scoped(secret: string, path: DatabasePath): string {
  return path.length === 0 ? secret : `${secret}:${path.join('/')}:admin`
}

/** Returns the `resource` in the response to a query. `name`: of the connection, for errors. */
function resourceOf(name: string, status: number, body: string): Json {
  const json = tryJson(body)
  if (status < 300 && json instanceof Map) return json.get('resource') ?? null
  const errors = json instanceof Map ? json.get('errors') : undefined
  const [error] = Array.isArray(errors) ? (errors as readonly Json[]) : []
  if (!(error instanceof Map))
    throw new TransferError(`${name} rejects the query: ${messageOf(status, body)}`)
  throw new QueryError(String(error.get('code')), describe(error))
}

/** The description of an error, followed by the invalid fields of a document. */
function describe(error: ReadonlyMap<string, Json>): string {
  const failures = error.get('failures')
  const parts = Array.isArray(failures)
    ? failures.map((each: Json) =>
        each instanceof Map
          ? `${(each.get('field') as readonly Json[]).join('.')}: ${each.get('description')}`
          : '',
      )
    : []
  return [String(error.get('description')), ...parts].join(' ')
}

/** Resolves with the body of the response. */
type SendSchema = (path: DatabasePath, request: SchemaRequest) => Promise<string>

/** UTF-16 code units of the schema files of a database. A push is much smaller. */
const schemaUnitsMax = 67_108_864

/**
 * `get` sends a GET request for a path below `/schema/1/` and resolves with the response. Throws {@link TransferError}
 * for a response of another program.
 */
export async function schemaFilesOf(
  get: (steps: readonly string[]) => Promise<SchemaAnswer>,
): Promise<readonly SchemaFileText[]> {
  const found: SchemaFileText[] = []
  let units = 0
  for (const file of (await get(['files'])).objects('files')) {
    const name = file.text('filename')
    const text = (await get(['files', name])).text('content')
    units += name.length + text.length
    if (units > schemaUnitsMax)
      throw new TransferError(`the schema files have more than ${schemaUnitsMax} characters`)
    found.push({ name, text })
  }
  return found
}

function schemaMethods(
  service: string,
  send: SendSchema,
): Pick<TransferConnection, 'schemaFiles' | 'isSchemaStaged' | 'pushSchema'> {
  const get = async (path: DatabasePath, steps: readonly string[]) =>
    SchemaAnswer.of(
      service,
      await send(path, { method: 'GET', path: steps, parameters: {}, files: [], text: '' }),
    )
  return {
    schemaFiles: path => schemaFilesOf(steps => get(path, steps)),
    async isSchemaStaged(path) {
      return (await get(path, ['status'])).text('status') !== 'none'
    },
    async pushSchema(path, files, dryRun) {
      const parameters = { override: 'false', force: 'true' }
      const step = dryRun ? 'validate' : 'update'
      await send(path, { method: 'POST', path: [step], parameters, files, text: '' })
    },
  }
}

/** For a successful response about schema files. `name`: of the connection. Throws {@link QueryError}. */
function schemaBody(name: string, status: number, body: string): string {
  if (status < 300) return body
  const json = tryJson(body)
  const error = json instanceof Map ? json.get('error') : undefined
  if (status !== 400 || !(error instanceof Map))
    throw new TransferError(`${name} rejects the schema request: ${messageOf(status, body)}`)
  throw new QueryError('invalid schema', String(error.get('message')))
}

/** For a successful response about a GraphQL schema. Throws {@link QueryError}. */
function graphqlBody(name: string, status: number, body: string): string {
  if (status < 300) return body
  if (status !== 400)
    throw new TransferError(`${name} rejects the GraphQL schema: ${messageOf(status, body)}`)
  throw new QueryError('invalid schema', body)
}

// ----------------------------------------------------------------------------------------- a data directory

/** Has opened a data directory. */
interface LocalEngine {
  readonly engine: Engine
  readonly transfer: TransferService
  close(): Promise<void>
}

const queryTimeoutMs = 600_000

/** Uses an engine in this process. `secret`: the engine's root secret. */
export function localConnection(
  name: string,
  { close, engine, transfer }: LocalEngine,
  secret: string,
): TransferConnection {
  const databases = new Map<string, DatabaseId>()
  const databaseOf = async (path: DatabasePath): Promise<DatabaseId> => {
    const known = databases.get(path.join('/'))
    if (known !== undefined) return known
    const principal = await engine.whoIs(`Bearer ${scoped(secret, path)}`)
    if (!principal) throw new TransferError(`there is no database ${path.join('/')} in ${name}`)
    databases.set(path.join('/'), principal.database)
    return principal.database
  }
  const graphql = async (path: DatabasePath, options: Readonly<Record<string, string>>, text?: string) => {
    const { body, status } = await engine.query({
      authorization: `Bearer ${scoped(secret, path)}`,
      language: 'graphql',
      dialect: defaultApiVersion,
      options,
      body: text,
      timeoutMs: queryTimeoutMs,
    })
    return graphqlBody(name, status, body)
  }
  return {
    name,
    close,
    async query(path, expression) {
      const { body, status } = await engine.query({
        authorization: `Bearer ${scoped(secret, path)}`,
        language: '4',
        dialect: '4',
        body: writeJson(expression),
        timeoutMs: queryTimeoutMs,
      })
      return resourceOf(name, status, body)
    },
    ...schemaMethods(name, async (path, request) => {
      const { body, status } = await engine.query({
        authorization: `Bearer ${scoped(secret, path)}`,
        language: '10',
        dialect: '10',
        options: schemaOptions,
        body: schemaRequestText(request),
        timeoutMs: queryTimeoutMs,
      })
      return schemaBody(name, status, body)
    }),
    graphqlSchema: path => graphql(path, schemaTextOptions),
    async importGraphql(path, text) {
      await graphql(path, importOptions('merge'), text)
    },
    write: async (path, records, options) => transfer.write(await databaseOf(path), records, options),
    missing: async (path, documents) => transfer.missing(await databaseOf(path), documents),
    snapshot: async path => transfer.snapshot(await databaseOf(path)),
    page: async (path, request) => transfer.page(await databaseOf(path), request),
  }
}

// -------------------------------------------------------------------------------------- a running service

/** Sends a request to an endpoint of a service, in the database at `path`. */
type Post = (
  path: DatabasePath,
  endpoint: string,
  body: string,
  method?: string,
) => Promise<{ readonly status: number; readonly text: string }>

function remoteGraphql(
  base: string,
  post: Post,
): Pick<TransferConnection, 'graphqlSchema' | 'importGraphql'> {
  return {
    async graphqlSchema(path) {
      const { status, text } = await post(path, '/import', '', 'GET')
      // Older services have no GraphQL.
      return status === 404 ? '' : graphqlBody(base, status, text)
    },
    async importGraphql(path, sdl) {
      const { status, text } = await post(path, '/import', sdl)
      graphqlBody(base, status, text)
    },
  }
}

/**
 * Attempts while the service is unavailable. A retry is safe, because writing the same records twice changes nothing.
 */
const attemptsMax = 6
const firstDelayMs = 200
const limitedDelayMs = 1000
/** Documents in one request that asks which are missing. */
const missingDocumentsMax = 10_000

const tooLarge = 'too large for one request; it can be imported into a data directory that no service uses'
const tooLargeTogether =
  'its check needs other documents, and together they are too large for one request; they can be imported into a data directory that no service uses'

/** `url`: the address of the service without a path. */
export function remoteConnection(url: string, secret: string): TransferConnection {
  const base = url.replace(/\/+$/, '')
  const post = async (path: DatabasePath, endpoint: string, body: string | FormData, method = 'POST') => {
    for (let attempt = 1; ; attempt++) {
      try {
        const response = await fetch(base + endpoint, {
          method,
          headers: { authorization: `Bearer ${scoped(secret, path)}`, 'x-faunadb-api-version': '4' },
          ...(method !== 'GET' && { body }),
        })
        const text = await responseText(response)
        if (response.status === 429) {
          // The database has exceeded its rate limit. The service is available, so this attempt does not count.
          attempt = 0
          await wait(limitedDelayMs)
          continue
        }
        if (response.status !== 503 || attempt === attemptsMax) return { status: response.status, text }
      } catch (cause) {
        if (cause instanceof ResponseLimitError)
          throw new TransferError(`${base} cannot be used: ${cause.message}`)
        const { mayPass, reason } = networkFailure(cause)
        if (!mayPass || attempt === attemptsMax)
          throw new TransferError(`${base} cannot be reached: ${reason}`, { cause })
      }
      await wait(firstDelayMs * 2 ** (attempt - 1))
    }
  }
  const transfer = async (path: DatabasePath, endpoint: string, body: string): Promise<string> => {
    const { status, text } = await post(path, endpoint, body)
    if (status < 300) return text
    throw refusal(path, status, text)
  }
  const refusal = (path: DatabasePath, status: number, text: string) =>
    status === 401 && path.length > 0
      ? new TransferError(
          `${base} has no database ${path.join('/')}, or the secret is not one of an admin (401)`,
        )
      : new TransferError(`${base} rejects the request: ${messageOf(status, text)}`)
  return {
    name: base,
    close: async () => undefined,
    async query(path, expression) {
      const { status, text } = await post(path, '/', writeJson(expression))
      return resourceOf(base, status, text)
    },
    ...schemaMethods(base, async (path, { files, method, parameters, path: steps }) => {
      const form = new FormData()
      for (const file of files) form.append(file.name, new Blob([file.text]))
      const words = new URLSearchParams(parameters).toString()
      const endpoint = `/schema/1/${steps.map(encodeURIComponent).join('/')}${words && `?${words}`}`
      const { status, text } = await post(path, endpoint, form, method)
      return schemaBody(base, status, text)
    }),
    ...remoteGraphql(base, post),
    async write(path, records, options) {
      const body = writeRequestText(records, options)
      const { status, text } = await post(path, transferPaths.write, body)
      if (status === 413 && (records.length === 1 || options.checks === 'together')) {
        const reason = records.length === 1 ? tooLarge : tooLargeTogether
        return { outcomes: records.map(() => ({ kind: 'bad', reason })), missing: [], unresolved: [] }
      }
      if (status >= 300) throw refusal(path, status, text)
      return readOf(base, () => readWriteResponse(JSON.parse(text), records.length))
    },
    async missing(path, documents) {
      const missing: boolean[] = []
      for (let from = 0; from < documents.length; from += missingDocumentsMax) {
        const part = documents.slice(from, from + missingDocumentsMax)
        const text = await transfer(path, transferPaths.missing, missingRequestText(part))
        missing.push(...readOf(base, () => readMissingResponse(JSON.parse(text), part.length)))
      }
      return missing
    },
    async snapshot(path) {
      const text = await transfer(path, transferPaths.snapshot, '')
      return readOf(base, () => readSnapshotResponse(JSON.parse(text)))
    },
    async page(path, request) {
      const text = await transfer(path, transferPaths.page, pageRequestText(request))
      return readOf(base, () => readPageText(text))
    },
  }
}

/**
 * Reads a response with `work`. Throws {@link TransferError} if the service at `base` is another program, whose
 * responses can have any content.
 */
function readOf<T>(base: string, work: () => T): T {
  try {
    return work()
  } catch (cause) {
    if (!(cause instanceof BadRecord || cause instanceof SyntaxError)) throw cause
    throw new TransferError(`${base} is not a Terrarium service of this version: ${cause.message}`)
  }
}

/** Of a response from a Terrarium endpoint or from another service. */
function messageOf(status: number, text: string): string {
  try {
    const { message, errors } = JSON.parse(text) as {
      readonly message?: string
      readonly errors?: readonly { readonly description?: string }[]
    }
    const reason = message ?? errors?.[0]?.description
    if (reason !== undefined) return `${reason} (${status})`
  } catch {
    // Not JSON: the text itself is the message.
  }
  return `status ${status} ${text.slice(0, 200)}`.trim()
}
