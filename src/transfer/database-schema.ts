// Writes the schema of one database in both languages, in an order in which its parts find each other: what files of version
// 10 may refer to, the files in one push, and what may refer to what is in them.

import type { DatabasePath, SchemaConnection } from './connection.ts'
import { type FslFile, isPlain } from './fsl.ts'
import type { SchemaRecord } from './record.ts'
import type { SchemaFinding } from './report.ts'
import { pushFiles } from './schema-push.ts'
import { writeSchema } from './schema-writer.ts'

/** What files say of the schema of a database. */
export interface DatabaseSchema {
  readonly path: DatabasePath
  /** Of version 4. */
  readonly records: SchemaRecord[]
  /** Of version 10. */
  readonly files: FslFile[]
}

/** Creates what is not there; with `dryRun` only looks. Throws `QueryRefused` for files that are refused. */
export async function writeDatabaseSchema(
  connection: SchemaConnection,
  path: DatabasePath,
  { files, records }: Pick<DatabaseSchema, 'files' | 'records'>,
  dryRun: boolean,
): Promise<readonly SchemaFinding[]> {
  if (files.length === 0) return writeSchema(connection, path, records, dryRun)
  const items = files.flatMap(file => file.items)
  const said = new Set(items.map(({ kind, name }) => keyOf(kind, name.text)))
  const plain = new Set(items.filter(isPlain).map(({ kind, name }) => keyOf(kind, name.text)))
  const isSaid = ({ name, object }: SchemaRecord) => said.has(keyOf(object.replace('_', ' '), name))
  // Version 4 gives names that files cannot create.
  const isOfVersion4 = ({ name, object, params }: SchemaRecord) =>
    plain.has(keyOf(object, name)) && params.has('history_days')
  const rest = records.filter(record => !isSaid(record) || hasOwnFields(record) || isOfVersion4(record))
  const [early, late] = [rest.filter(isEarly), rest.filter(record => !isEarly(record))]
  const first = await writeSchema(connection, path, early, dryRun)
  const pushed = await pushFiles(connection, path, files, dryRun)
  // What the files say of a collection is what the report tells of it.
  const told = first.filter(({ kind, name }) => !said.has(keyOf(kind, name)))
  return [...told, ...pushed, ...(await writeSchema(connection, path, late, dryRun))]
}

function keyOf(kind: string, name: string): string {
  return `${kind} ${name}`
}

/** Roles of version 10 may give rights on collections and functions of version 4. */
function isEarly({ object, params }: SchemaRecord): boolean {
  return object === 'collection' || (object === 'function' && !params.has('role'))
}

/** Free data and rights of a collection are nothing that a file of version 10 could say. */
function hasOwnFields({ object, params }: SchemaRecord): boolean {
  return object === 'collection' && (params.has('data') || params.has('permissions'))
}
