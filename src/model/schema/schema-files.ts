// The source files of a database's schemas, each stored as a document of an internal collection. The active schema, a
// staged schema, which may become active later, and the GraphQL schema have separate files. Lists of files are in the
// order of creation.

import { type ObjectValue, Ref, unlisted } from '../../values/value.ts'
import type { Session } from '../session.ts'

type FileSession = Pick<Session, 'database' | 'newDocument' | 'transaction'>

interface SchemaText {
  readonly name: string
  readonly text: string
}

/** The GraphQL schema consists of one file, and cannot be staged. */
export type SchemaKind = 'active' | 'staged' | 'graphql'

const numberOf = {
  active: unlisted.schema_files,
  staged: unlisted.staged_schema,
  graphql: unlisted.graphql_schema,
} as const

/** A document that exists while a schema is staged. No file has its id. */
function marker({ database }: Pick<FileSession, 'database'>): Ref {
  return new Ref(database, unlisted.staged_schema, 0n)
}

interface StoredFile extends SchemaText {
  readonly ref: Ref
}

function storedFiles(kind: SchemaKind, session: FileSession): readonly StoredFile[] {
  const { database, transaction } = session
  const files: StoredFile[] = []
  for (const { document } of transaction.documents(database, numberOf[kind], {})) {
    const fields: ObjectValue | undefined = transaction.get(document)?.fields
    const [name, text] = [fields?.get('name'), fields?.get('text')]
    if (typeof name === 'string' && typeof text === 'string') files.push({ ref: document, name, text })
  }
  return files
}

/** Returns the files of a schema in the order of their creation. */
export function readSchemaFiles(kind: SchemaKind, session: FileSession): readonly SchemaText[] {
  return storedFiles(kind, session).map(({ name, text }) => ({ name, text }))
}

/**
 * Stores `files`, and deletes all other files of the schema. Existing names retain their position in the list, and new
 * names are appended.
 */
export function writeSchemaFiles(kind: SchemaKind, files: readonly SchemaText[], session: FileSession): void {
  const { database, transaction } = session
  const wanted = new Map(files.map(({ name, text }) => [name, text]))
  for (const { name, ref, text } of storedFiles(kind, session)) {
    const next = wanted.get(name)
    wanted.delete(name)
    if (next === undefined) transaction.delete(ref)
    else if (next !== text) transaction.put(ref, fieldsOf(name, next))
  }
  for (const [name, text] of wanted) {
    transaction.put(session.newDocument(database, numberOf[kind]), fieldsOf(name, text))
  }
}

function fieldsOf(name: string, text: string): ObjectValue {
  return new Map([
    ['name', name],
    ['text', text],
  ])
}

export function isStaged(session: FileSession): boolean {
  return session.transaction.get(marker(session)) !== undefined
}

/** `files` may be empty. */
export function stageSchemaFiles(files: readonly SchemaText[], session: FileSession): void {
  writeSchemaFiles('staged', files, session)
  // Every change of the staged schema conflicts with concurrent transactions that read the marker.
  session.transaction.put(marker(session), new Map())
}

export function unstageSchema(session: FileSession): void {
  writeSchemaFiles('staged', [], session)
  session.transaction.delete(marker(session))
}
