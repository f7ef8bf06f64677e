// Writes the schema of one database in both query languages: first the objects to which schema files of version 10 may
// refer, then all schema files in one push, finally the objects that may refer to objects in these files.
//
// The push adds missing objects. Two kinds of existing objects get their definitions from the files: stubs, which the
// import has created with only their required fields, and collections that version 4 can express completely. All others
// remain unchanged.

import { changesOf } from '../fql10/schema/fsl/diff/schema-diff.ts'
import { TextEdits } from '../fql10/schema/fsl/edit.ts'
import { itemKey, rangeWithComment } from '../fql10/schema/fsl/patch.ts'
import type { SchemaItem } from '../fql10/schema/fsl/schema-items.ts'
import type { DatabasePath, SchemaConnection } from './connection.ts'
import { type FslFile, isStub, isVersion4Collection, readFsl, stubOf } from './fsl.ts'
import { missingGraphqlTypes } from './graphql-types.ts'
import { object } from './query-json.ts'
import { type SchemaRecord, TransferError } from './record.ts'
import type { SchemaFinding } from './report.ts'
import { completeStubs, writeSchema } from './schema-writer.ts'

/** Schema of a database as the imported files define it. */
export interface DatabaseSchema {
  readonly path: DatabasePath
  /** Definitions of version 4. */
  readonly records: SchemaRecord[]
  /** Schema files of version 10. */
  readonly files: FslFile[]
  /** Texts of GraphQL schemas. */
  readonly graphql: string[]
}

/** Writes the schema, or only validates it if `dryRun` is true. Throws `QueryError` for rejected files. */
export async function writeDatabaseSchema(
  connection: SchemaConnection,
  path: DatabasePath,
  schema: Pick<DatabaseSchema, 'files' | 'records' | 'graphql'>,
  dryRun: boolean,
): Promise<readonly SchemaFinding[]> {
  const findings = await writeObjects(connection, path, schema, dryRun)
  // The GraphQL schema comes last, so that its import uses the existing indexes and functions instead of creating them.
  if (schema.graphql.length > 0)
    return [...findings, ...(await writeGraphql(connection, path, schema.graphql, dryRun))]
  return [...findings, ...(await missingTypes(connection, path, schema.records))]
}

/** Reports the types of the GraphQL schema that neither the export nor the database contains. */
async function missingTypes(
  connection: SchemaConnection,
  path: DatabasePath,
  records: readonly SchemaRecord[],
): Promise<readonly SchemaFinding[]> {
  const types = missingGraphqlTypes(records)
  if (types.length === 0 || (await connection.graphqlSchema(path)) !== '') return []
  const reason = `the export does not contain the types ${types.join(', ')}. Import the file with the GraphQL schema: terrarium graphql import FILE`
  return [
    { database: path.join('/'), kind: 'GraphQL schema', name: 'schema.gql', outcome: 'incomplete', reason },
  ]
}

/** A dry run does not check the schemas. */
async function writeGraphql(
  connection: SchemaConnection,
  path: DatabasePath,
  texts: readonly string[],
  dryRun: boolean,
): Promise<readonly SchemaFinding[]> {
  const findings: SchemaFinding[] = []
  for (const text of texts) {
    const isEqual = !dryRun && (await connection.graphqlSchema(path)) === text
    if (!isEqual && !dryRun) await connection.importGraphql(path, text)
    const outcome = isEqual ? 'equal' : 'created'
    findings.push({ database: path.join('/'), kind: 'GraphQL schema', name: 'schema.gql', outcome })
  }
  return findings
}

async function writeObjects(
  connection: SchemaConnection,
  path: DatabasePath,
  { files, records }: Pick<DatabaseSchema, 'files' | 'records'>,
  dryRun: boolean,
): Promise<readonly SchemaFinding[]> {
  if (files.length === 0) return writeSchema(connection, path, records, dryRun)
  const items = files.flatMap(file => file.items)
  const inFiles = new Set(items.map(({ kind, name }) => keyOf(kind, name.text)))
  const collections4 = new Set(
    items.filter(isVersion4Collection).map(({ kind, name }) => keyOf(kind, name.text)),
  )
  const isInFiles = (record: SchemaRecord) => inFiles.has(keyOfRecord(record))
  // Created before the push, because version 4 allows names that files cannot declare. Of the records of an export, only
  // whole definitions have `history_days`.
  const isOfVersion4 = (record: SchemaRecord) =>
    collections4.has(keyOfRecord(record)) && record.params.has('history_days')
  const rest = records.filter(record => !isInFiles(record) || hasOwnFields(record) || isOfVersion4(record))
  const [early, late] = [rest.filter(isEarly), rest.filter(record => !isEarly(record))]
  // Files may refer to roles of version 4, and these roles may refer to objects in the files. So these roles are
  // created without rights before the push, and get their rights after it.
  const roles = late.filter(({ object }) => object === 'role')
  const stubRecords = records.filter(record => isInFiles(record) && isStub(record.object, record.name))
  const stubs = stubRecords.map(each => ({ ...each, params: stubOf(each.object, each.params) }))
  const hidden = roles.map(each => ({ ...each, params: hiddenRole(each.name) }))
  const firstFindings = await writeSchema(connection, path, [...early, ...stubs, ...hidden], dryRun)
  const created = new Set(
    firstFindings.filter(({ outcome }) => outcome === 'created').map(({ kind, name }) => keyOf(kind, name)),
  )
  const isCreated = (record: SchemaRecord) => created.has(keyOfRecord(record))
  const rolesWith = (wanted: SchemaFinding['outcome']) =>
    new Set(
      firstFindings
        .filter(({ kind, outcome }) => kind === 'role' && outcome === wanted)
        .map(({ name }) => name),
    )
  // A role that equals its hidden form was created by an interrupted import, which has not given it its rights.
  const stillHidden = rolesWith('equal')
  const ownStubs = new Set(stubRecords.filter(isCreated).map(keyOfRecord))
  const pushed = await pushFiles(connection, path, files, { dryRun, stubs: ownStubs })
  // For a collection that is also in a file, the report shows the finding for the file.
  const unpushed = firstFindings.filter(({ kind, name }) => !inFiles.has(keyOf(kind, name)))
  // Existing roles with rights differ from the hidden form, and are compared with the export.
  const withRights = rolesWith('different')
  const compared = await writeSchema(
    connection,
    path,
    roles.filter(({ name }) => withRights.has(name)),
    dryRun,
  )
  const own = unpushed.filter(({ kind, name }) => kind !== 'role' || !withRights.has(name))
  const others = await writeSchema(
    connection,
    path,
    late.filter(each => !roles.includes(each)),
    dryRun,
  )
  const rejected = dryRun
    ? []
    : await completeStubs(
        connection,
        path,
        roles.filter(each => isCreated(each) || stillHidden.has(each.name)),
      )
  return [...own, ...compared, ...pushed, ...others, ...rejected]
}

/**
 * A role without rights: the predicate of its only privilege is false. Schema files omit it, because they cannot
 * contain predicates of version 4.
 */
function hiddenRole(name: string): SchemaRecord['params'] {
  const resource = object({ '@ref': object({ id: 'collections' }) })
  const predicate = object({ '@query': object({ api_version: '4', lambda: '_', expr: false }) })
  // `privileges` is an array: an update replaces a stored array, but merges an object with the stored object.
  return object({ name, privileges: [object({ resource, actions: object({ read: predicate }) })] })
}

function keyOf(kind: string, name: string): string {
  return `${kind} ${name}`
}

function keyOfRecord({ name, object }: SchemaRecord): string {
  return keyOf(object.replace('_', ' '), name)
}

/**
 * Collections, and functions without a role, are created before the push, because roles in the files may grant rights
 * on them.
 */
function isEarly({ object, params }: SchemaRecord): boolean {
  return object === 'collection' || (object === 'function' && !params.has('role'))
}

/** A file of version 10 cannot express the fields `data` and `permissions` of a collection. */
function hasOwnFields({ object, params }: SchemaRecord): boolean {
  return object === 'collection' && (params.has('data') || params.has('permissions'))
}

interface PushOptions {
  /** The database only validates the files. */
  readonly dryRun: boolean
  /** Keys (`itemKey`) of objects that the import has created as stubs. The files contain their full definitions. */
  readonly stubs: ReadonlySet<string>
}

/**
 * Throws `QueryError` for invalid files, with all errors and their positions, and {@link TransferError} while the
 * database has a staged schema.
 */
async function pushFiles(
  connection: SchemaConnection,
  path: DatabasePath,
  files: readonly FslFile[],
  { dryRun, stubs }: PushOptions,
): Promise<readonly SchemaFinding[]> {
  const present = (await connection.schemaFiles(path)).map(({ name, text }) => readFsl(name, text))
  const { findings, push } = planOf(
    path,
    present,
    dryRun ? files.map(file => withoutStubs(file, stubs)) : files,
    stubs,
  )
  if (push.size > 0) {
    if (await connection.isSchemaStaged(path)) {
      const name = path.join('/') || 'the root database'
      throw new TransferError(`${name} has a staged schema: commit or abandon it before importing files`)
    }
    const sent = Array.from(push, ([name, text]) => ({ name, text }))
    await connection.pushSchema(path, sent, dryRun)
  }
  return findings
}

interface ImportPlan {
  readonly findings: readonly SchemaFinding[]
  /** Texts of schema files by file name. */
  readonly push: ReadonlyMap<string, string>
}

function planOf(
  path: DatabasePath,
  present: readonly FslFile[],
  files: readonly FslFile[],
  stubs: ReadonlySet<string>,
): ImportPlan {
  const before = new Map(present.flatMap(({ items }) => items.map(item => [itemKey(item), item])))
  const wanted = files.flatMap(({ items }) => items)
  const kept = new Set(wanted.filter(item => !stubs.has(itemKey(item)) && isKept(before.get(itemKey(item)))))
  const replaced = new Set(wanted.flatMap(item => (kept.has(item) ? [] : (before.get(itemKey(item)) ?? []))))
  const push = new Map<string, string>()
  for (const { items, name, text } of present) {
    if (!items.some(item => replaced.has(item))) continue
    // A push deletes files with empty texts.
    push.set(name, items.every(item => replaced.has(item)) ? '' : without(items, replaced, text))
  }
  const texts = new Map(present.map(({ name, text }) => [name, text]))
  for (const { items, name, text } of files) {
    if (items.length > 0 && items.every(item => kept.has(item))) continue
    const existing = push.get(name) ?? texts.get(name) ?? ''
    const added = without(items, kept, text)
    // An earlier import of the file may have written the comment at its beginning.
    const comment = text.slice(0, items[0]?.commentStart)
    const isNew = !existing.includes(comment.trim())
    push.set(
      name,
      existing.trim() === ''
        ? added
        : `${existing.trimEnd()}\n\n${isNew ? added : added.slice(comment.length)}`,
    )
  }
  const findings = wanted.map(item => ({
    database: path.join('/'),
    kind: item.kind,
    name: item.name.text,
    outcome: kept.has(item)
      ? compareItems(before.get(itemKey(item)) as SchemaItem, item)
      : ('created' as const),
  }))
  return { findings, push }
}

/** Version 10 rejects the names of stubs for new objects, and in a dry run the stubs do not exist in the database. */
function withoutStubs(file: FslFile, stubs: ReadonlySet<string>): FslFile {
  const cut = new Set(file.items.filter(item => stubs.has(itemKey(item))))
  return cut.size === 0 ? file : readFsl(file.name, without(file.items, cut, file.text))
}

function isKept(item: SchemaItem | undefined): boolean {
  return item !== undefined && !isVersion4Collection(item)
}

function compareItems(before: SchemaItem, after: SchemaItem): 'equal' | 'different' {
  return changesOf([before], [after]).length === 0 ? 'equal' : 'different'
}

/** Removes the items in `cut` from the text of a file. */
function without(items: readonly SchemaItem[], cut: ReadonlySet<SchemaItem>, text: string): string {
  const edits = new TextEdits()
  for (const item of items) if (cut.has(item)) edits.cut(rangeWithComment(item))
  return edits.isEmpty ? text : edits.applied(text)
}
