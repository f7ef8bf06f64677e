// Writes the schema of one database in both languages, ordered by dependencies: first the objects to which version 10
// files may refer, then the files in one push, then the objects that may refer to the files.

import type { DatabasePath, SchemaConnection } from './connection.ts'
import { type FslFile, isPlain } from './fsl.ts'
import type { SchemaRecord } from './record.ts'
import type { SchemaFinding } from './report.ts'
import { pushFiles } from './schema-push.ts'
import { writeSchema } from './schema-writer.ts'

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
  const said = new Set(items.map(({ kind, name }) => keyOf(kind, name.text)))
  const plain = new Set(items.filter(isPlain).map(({ kind, name }) => keyOf(kind, name.text)))
  const isSaid = ({ name, object }: SchemaRecord) => said.has(keyOf(object.replace('_', ' '), name))
  // Version 4 allows names that files cannot create.
  const isOfVersion4 = ({ name, object, params }: SchemaRecord) =>
    plain.has(keyOf(object, name)) && params.has('history_days')
  const rest = records.filter(record => !isSaid(record) || hasOwnFields(record) || isOfVersion4(record))
  const [early, late] = [rest.filter(isEarly), rest.filter(record => !isEarly(record))]
  const first = await writeSchema(connection, path, early, dryRun)
  const pushed = await pushFiles(connection, path, files, dryRun)
  // For a collection that is also in a file, the report shows the finding for the file.
  const told = first.filter(({ kind, name }) => !said.has(keyOf(kind, name)))
  return [...told, ...pushed, ...(await writeSchema(connection, path, late, dryRun))]
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
