// Lists documents of native collections, such as databases and keys, page by page.

import type { Json } from '../../values/value.ts'
import { StartError } from '../command.ts'
import { visible } from '../terminal.ts'
import type { QueryConnection } from './connection.ts'

const pageSize = 500n

/**
 * Reads the given fields of the documents of a set; a field's path starts at the document. Throws {@link StartError}.
 */
export async function* listOf(
  set: Json,
  fields: Readonly<Record<string, readonly string[]>>,
  connection: QueryConnection,
): AsyncGenerator<ReadonlyMap<string, Json>> {
  const select = ([name, path]: [string, readonly string[]]): [string, Json] => [
    name,
    form({ select: path, from: form({ var: 'document' }), default: null }),
  ]
  const shown = form({ object: form(Object.fromEntries(Object.entries(fields).map(select))) })
  const get = form({ get: form({ var: 'ref' }) })
  const expr = form({ let: [form({ document: get })], in: shown })
  let after: Json | undefined
  do {
    const page = form({ paginate: set, size: pageSize, ...(after !== undefined && { after }) })
    const resource = await run(form({ map: form({ lambda: 'ref', expr }), collection: page }), connection)
    const found = resource instanceof Map ? resource : new Map<string, Json>()
    const data = found.get('data')
    for (const each of Array.isArray(data) ? data : []) if (each instanceof Map) yield each
    after = found.get('after')
  } while (after !== undefined)
}

/** Runs a query and returns its resource. Throws {@link StartError} with the first error. */
export async function run(query: Json, connection: QueryConnection): Promise<Json> {
  const reply = await connection.query(query)
  if (reply.kind === 'resource') return reply.resource
  const [error] = reply.errors
  const texts = [error?.description, ...(error?.failures.map(({ text }) => text) ?? [])]
  throw new StartError(visible(texts.filter(Boolean).join(' ') || 'the service rejected the query'))
}

/** An object of the wire format. */
export function form(members: Readonly<Record<string, Json>>): Json {
  return new Map(Object.entries(members))
}

/** The id in a reference; a string as it is; undefined for other values. */
export function idIn(json: Json | undefined): string | undefined {
  if (typeof json === 'string') return json
  const ref = json instanceof Map ? json.get('@ref') : undefined
  const id = ref instanceof Map ? ref.get('id') : undefined
  return typeof id === 'string' ? id : undefined
}
