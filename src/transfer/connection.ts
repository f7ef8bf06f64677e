// A connection to the database of an import or export, through a running service (remote-connection.ts) or in a data
// directory that no service uses (local-connection.ts).

import type { Json } from '../values/value.ts'
import type { BatchOptions, BatchResult } from './batch-writer.ts'
import type { ExportPage, ExportPageRequest, ExportSnapshot } from './read-page.ts'
import type { DocumentRecord } from './record.ts'
import type { NamedDocument } from './service.ts'

/** Names of databases below the database of the secret, outermost first. Empty for the database of the secret. */
export type DatabasePath = readonly string[]

export class QueryError extends Error {
  override name = 'QueryError'
  /** Code of the first error in the response. */
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export interface SchemaFileText {
  readonly name: string
  readonly text: string
}

/** All methods throw {@link TransferError} when the database cannot be reached. */
export interface TransferConnection {
  /** Address of the service or path of the data directory, for messages to the user. */
  readonly name: string
  /** Returns the `resource`. Throws {@link QueryError}. */
  query(path: DatabasePath, expression: Json): Promise<Json>
  /** Returns the schema files, which match the current definitions. */
  schemaFiles(path: DatabasePath): Promise<readonly SchemaFileText[]>
  /** Returns the text of the GraphQL schema. Returns an empty text without a GraphQL schema. */
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
  /** Returns one boolean per document, true if the document is missing. */
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
