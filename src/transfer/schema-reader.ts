// The schema of a database as text that makes it again: what the hosted service left out of its exports.

import { printQuery, writeJson } from '../v4/text/index.ts'
import type { Json, Micros } from '../values/value.ts'
import type { Connection, DatabasePath } from './connection.ts'
import { literal, object } from './query-json.ts'

/** The kinds, in an order in which they can be created, with the set of all and the function that creates one. */
const kinds = [
  { set: 'databases', create: 'create_database' },
  { set: 'collections', create: 'create_collection' },
  { set: 'indexes', create: 'create_index' },
  { set: 'functions', create: 'create_function' },
  { set: 'roles', create: 'create_role' },
  { set: 'access_providers', create: 'create_access_provider' },
] as const

/** Fields that the service fills in by itself. */
const ownFields: ReadonlySet<string> = new Set(['ref', 'ts', 'active', 'global_id', 'audience'])

interface SchemaText {
  /** The name of a file. */
  readonly file: string
  readonly text: string
}

interface DatabaseSchema {
  readonly files: readonly SchemaText[]
  /** Names of the databases in it. */
  readonly children: readonly string[]
}

/** Reads the schema of a database as of a time: a `.fql` file for each kind, and the keys with their hashes. */
export async function readSchema(
  connection: Connection,
  path: DatabasePath,
  at: Micros,
): Promise<DatabaseSchema> {
  const files: SchemaText[] = []
  const children: string[] = []
  for (const { create, set } of kinds) {
    const objects = (await everything(connection, path, set, at)).sort(byName)
    if (set === 'databases') children.push(...objects.map(each => String(each.get('name'))))
    const texts = objects.map(each => printQuery(object({ [create]: literal(parameters(each)) })))
    if (texts.length > 0) files.push({ file: `${set}.fql`, text: `${texts.join('\n\n')}\n` })
  }
  const keys = (await everything(connection, path, 'keys', at)).map(key =>
    writeJson(new Map([...key].filter(([name]) => name !== 'ts'))),
  )
  if (keys.length > 0) files.push({ file: 'keys.jsonl', text: `${keys.join('\n')}\n` })
  return { files, children }
}

const pageSize = 1000n

/** All objects of a kind as they were at a time. */
async function everything(
  connection: Connection,
  path: DatabasePath,
  set: string,
  at: Micros,
): Promise<ReadonlyMap<string, Json>[]> {
  const found: ReadonlyMap<string, Json>[] = []
  let after: Json | undefined
  do {
    const page = object({ paginate: object({ [set]: null }), size: pageSize, after: after && literal(after) })
    const read = object({
      map: object({ lambda: 'ref', expr: object({ get: object({ var: 'ref' }) }) }),
      collection: page,
    })
    const result = await connection.query(path, object({ at: BigInt(at), expr: read }))
    if (!(result instanceof Map)) break
    found.push(...(result.get('data') as readonly ReadonlyMap<string, Json>[]))
    after = result.get('after')
  } while (after !== undefined)
  return found
}

function byName(left: ReadonlyMap<string, Json>, right: ReadonlyMap<string, Json>): number {
  return String(left.get('name')) < String(right.get('name')) ? -1 : 1
}

/** The name first, then by name, so that the same definition is always the same text. */
function parameters(schemaObject: ReadonlyMap<string, Json>): ReadonlyMap<string, Json> {
  const fields = [...schemaObject].filter(([name]) => !ownFields.has(name) && name !== 'name')
  fields.sort(([left], [right]) => (left < right ? -1 : 1))
  return new Map<string, Json>([['name', schemaObject.get('name') ?? null], ...fields])
}
