// The files of a database's schema, as they were pushed: those of the schema in force, and those of a staged one, which is
// to come into force later. They are documents of collections that no language shows, in the order of their age.

import { type ObjectValue, Ref, unlisted } from '../../values/value.ts'
import type { Session } from '../session.ts'

/** What files are read and written in. */
type FileSession = Pick<Session, 'database' | 'newDocument' | 'transaction'>

/** A file of a schema. */
interface SchemaText {
  readonly name: string
  readonly text: string
}

/** Which schema: the one in force, or the one that is to come. */
export type SchemaStage = 'active' | 'staged'

const numberOf = { active: unlisted.schema_files, staged: unlisted.staged_schema } as const

/** The document that says that there is a staged schema; its files have other ids. */
function marker({ database }: Pick<FileSession, 'database'>): Ref {
  return new Ref(database, unlisted.staged_schema, 0n)
}

interface StoredFile extends SchemaText {
  readonly ref: Ref
}

function storedFiles(stage: SchemaStage, session: FileSession): readonly StoredFile[] {
  const { database, transaction } = session
  const files: StoredFile[] = []
  for (const { document } of transaction.documents(database, numberOf[stage], {})) {
    const fields: ObjectValue | undefined = transaction.get(document)?.fields
    const [name, text] = [fields?.get('name'), fields?.get('text')]
    if (typeof name === 'string' && typeof text === 'string') files.push({ ref: document, name, text })
  }
  return files
}

/** The files of a schema, by age; none where none was ever pushed or made. */
export function readSchemaFiles(stage: SchemaStage, session: FileSession): readonly SchemaText[] {
  return storedFiles(stage, session).map(({ name, text }) => ({ name, text }))
}

/** Makes these the files of a schema: those of the same name keep their age, others come behind them, all else goes. */
export function writeSchemaFiles(
  stage: SchemaStage,
  files: readonly SchemaText[],
  session: FileSession,
): void {
  const { database, transaction } = session
  const wanted = new Map(files.map(({ name, text }) => [name, text]))
  for (const { name, ref, text } of storedFiles(stage, session)) {
    const next = wanted.get(name)
    wanted.delete(name)
    if (next === undefined) transaction.delete(ref)
    else if (next !== text) transaction.put(ref, fieldsOf(name, next))
  }
  for (const [name, text] of wanted) {
    transaction.put(session.newDocument(database, numberOf[stage]), fieldsOf(name, text))
  }
}

function fieldsOf(name: string, text: string): ObjectValue {
  return new Map([
    ['name', name],
    ['text', text],
  ])
}

/** Whether a database has a schema that is to come. */
export function isStaged(session: FileSession): boolean {
  return session.transaction.get(marker(session)) !== undefined
}

/** Makes these the files of the schema that is to come; from now on there is one, whatever they hold. */
export function stageSchemaFiles(files: readonly SchemaText[], session: FileSession): void {
  writeSchemaFiles('staged', files, session)
  // Written each time: it is how others learn that the staged schema has changed.
  session.transaction.put(marker(session), new Map())
}

/** From now on there is no schema to come. */
export function unstageSchema(session: FileSession): void {
  writeSchemaFiles('staged', [], session)
  session.transaction.delete(marker(session))
}
