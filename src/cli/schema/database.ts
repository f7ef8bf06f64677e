// Reads the schema objects of a database from its service.

import { allObjects } from '../../transfer/query-json.ts'
import type { Json } from '../../values/value.ts'
import { writeJson } from '../../values/write-json.ts'
import type { QueryConnection, Reply } from '../client/connection.ts'
import { StartError } from '../command.ts'
import { definingFields, kinds, type SchemaObject } from './kinds.ts'

/** All schema objects of the kinds that have files. Throws {@link StartError} when they may not be read. */
export async function readSchema(connection: QueryConnection): Promise<readonly SchemaObject[]> {
  const found: SchemaObject[] = []
  for (const kind of kinds) {
    const ask = async (query: Json) => resourceOf(await connection.query(query), kind.listing)
    for (const fields of await allObjects(ask, kind.listing)) {
      const name = fields.get('name')
      if (typeof name === 'string') found.push({ kind, name, fields: definingFields(kind, fields) })
    }
  }
  return found
}

/** The result of a query. Throws {@link StartError} if the query failed. */
function resourceOf(reply: Reply, what: string): Json {
  if (reply.kind === 'resource') return reply.resource
  const [error] = reply.errors
  throw new StartError(`the ${what} cannot be read: ${error?.code}: ${error?.description}`)
}

/** Returns true if two pieces of value JSON are equal, regardless of the order of fields. */
export function sameJson(left: Json | undefined, right: Json | undefined): boolean {
  if (left === undefined || right === undefined) return left === right
  return writeJson(inOrder(left)) === writeJson(inOrder(right))
}

function inOrder(json: Json): Json {
  if (Array.isArray(json)) return json.map(inOrder)
  if (!(json instanceof Map)) return json
  return new Map(
    [...json].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, value]) => [name, inOrder(value)]),
  )
}
