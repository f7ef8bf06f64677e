// Builds parts of queries in exact JSON: integers as bigint, doubles as number, objects as Map. Also runs queries that
// read all schema objects of a kind.

import type { Json } from '../values/value.ts'
import { TransferError } from './record.ts'

/** Omits undefined members. */
export function object(members: Readonly<Record<string, Json | undefined>>): ReadonlyMap<string, Json> {
  return new Map(Object.entries(members).filter((entry): entry is [string, Json] => entry[1] !== undefined))
}

/** An expression that evaluates to `json`, a value in a response. */
export function literal(json: Json): Json {
  if (Array.isArray(json)) return json.map(literal)
  if (!(json instanceof Map)) return json
  const [first] = json.keys()
  const isTagged = json.size === 1 && first?.startsWith('@')
  if (isTagged && first === '@obj') return literal(json.get('@obj') as Json)
  return isTagged
    ? json
    : object({ object: new Map([...json].map(([name, field]) => [name, literal(field)])) })
}

const pageSize = 500n
/**
 * Maximum number of objects of a kind; an empty page counts as an object. Another program at the address of the service
 * could return pages without an end.
 */
const objectsMax = 1_000_000

/** `set`: the set with all objects of a kind, such as `indexes`. */
export async function allObjects(
  runQuery: (query: Json) => Promise<Json>,
  set: string,
): Promise<ReadonlyMap<string, Json>[]> {
  const found: ReadonlyMap<string, Json>[] = []
  let count = 0
  let after: Json | undefined
  do {
    const page = object({ paginate: object({ [set]: null }), size: pageSize, after: after && literal(after) })
    const get = object({ lambda: 'ref', expr: object({ get: object({ var: 'ref' }) }) })
    const result = await runQuery(object({ map: get, collection: page }))
    const objects = result instanceof Map ? result.get('data') : undefined
    if (!Array.isArray(objects)) throw new TransferError(`the response is not a page of ${set}`)
    found.push(...objects)
    count += Math.max(1, objects.length)
    if (count > objectsMax) throw new TransferError(`there are more than ${objectsMax} ${set}`)
    after = (result as ReadonlyMap<string, Json>).get('after')
  } while (after !== undefined)
  return found
}
