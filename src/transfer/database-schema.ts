// Writes the schema of one database in both languages, ordered by dependencies: first the objects to which version 10
// files may refer, then the files in one push, then the objects that may refer to the files.

import type { DatabasePath, SchemaConnection } from './connection.ts'
import { type FslFile, isPlain, isStub, stubOf } from './fsl.ts'
import { object } from './query-json.ts'
import type { SchemaRecord } from './record.ts'
import type { SchemaFinding } from './report.ts'
import { pushFiles } from './schema-push.ts'
import { completeStubs, writeSchema } from './schema-writer.ts'

/** The schema of a database according to the files. */
export interface DatabaseSchema {
  readonly path: DatabasePath
  /** Schema objects of version 4. */
  readonly records: SchemaRecord[]
  /** Schema files of version 10. */
  readonly files: FslFile[]
}

/** Creates missing schema objects; with `dryRun` it only validates. Throws `QueryError` for rejected files. */
export async function writeDatabaseSchema(
  connection: SchemaConnection,
  path: DatabasePath,
  { files, records }: Pick<DatabaseSchema, 'files' | 'records'>,
  dryRun: boolean,
): Promise<readonly SchemaFinding[]> {
  if (files.length === 0) return writeSchema(connection, path, records, dryRun)
  const items = files.flatMap(file => file.items)
  const inFiles = new Set(items.map(({ kind, name }) => keyOf(kind, name.text)))
  const plain = new Set(items.filter(isPlain).map(({ kind, name }) => keyOf(kind, name.text)))
  const isInFiles = ({ name, object }: SchemaRecord) => inFiles.has(keyOf(object.replace('_', ' '), name))
  // Version 4 allows names that files cannot create.
  const isOfVersion4 = ({ name, object, params }: SchemaRecord) =>
    plain.has(keyOf(object, name)) && params.has('history_days')
  const rest = records.filter(record => !isInFiles(record) || hasOwnFields(record) || isOfVersion4(record))
  const [early, late] = [rest.filter(isEarly), rest.filter(record => !isEarly(record))]
  // Files may refer to roles of version 4, which may refer to objects of the files.
  const roles = late.filter(({ object }) => object === 'role')
  const named = records.filter(record => isInFiles(record) && isStub(record.object, record.name))
  const stubs = named.map(each => ({ ...each, params: stubOf(each.object, each.params) }))
  const hidden = roles.map(each => ({ ...each, params: hiddenRole(each.name) }))
  const first = await writeSchema(connection, path, [...early, ...stubs, ...hidden], dryRun)
  const made = new Set(
    first.filter(({ outcome }) => outcome === 'created').map(({ kind, name }) => keyOf(kind, name)),
  )
  const isMade = ({ name, object }: SchemaRecord) => made.has(keyOf(object.replace('_', ' '), name))
  const ownStubs = new Set(
    named.filter(isMade).map(({ name, object }) => keyOf(object.replace('_', ' '), name)),
  )
  const pushed = await pushFiles(connection, path, files, { dryRun, stubs: ownStubs })
  // For a collection that is also in a file, the report shows the finding for the file.
  const unpushed = first.filter(({ kind, name }) => !inFiles.has(keyOf(kind, name)))
  const others = await writeSchema(
    connection,
    path,
    late.filter(each => !roles.includes(each)),
    dryRun,
  )
  const refused = dryRun ? [] : await completeStubs(connection, path, roles.filter(isMade))
  return [...unpushed, ...pushed, ...others, ...refused]
}

/** Creates a role without rights. Its predicate is of version 4, so no schema file shows the role. */
function hiddenRole(name: string): SchemaRecord['params'] {
  const resource = object({ '@ref': object({ id: 'collections' }) })
  const predicate = object({ '@query': object({ lambda: '_', expr: false }) })
  // An update replaces an array, but would merge into an object.
  return object({ name, privileges: [object({ resource, actions: object({ read: predicate }) })] })
}

function keyOf(kind: string, name: string): string {
  return `${kind} ${name}`
}

/** Roles of version 10 may grant rights on collections and functions of version 4. */
function isEarly({ object, params }: SchemaRecord): boolean {
  return object === 'collection' || (object === 'function' && !params.has('role'))
}

/** A file of version 10 cannot express free data and permissions of a collection. */
function hasOwnFields({ object, params }: SchemaRecord): boolean {
  return object === 'collection' && (params.has('data') || params.has('permissions'))
}
