// The documents of the benchmark, loaded through Terrarium's public API.

import { query } from '../tests/support/http.ts'

/** Documents of a group: more than a page of 64, so that every page by group is full. */
export const groupSize = 100

export interface BenchDocument {
  readonly key: string
  readonly group: number
  readonly number: number
  readonly text: string
}

/** Returns a document of about 300 bytes of JSON. */
export function document(n: number): BenchDocument {
  return {
    key: `key-${n}`,
    group: Math.floor(n / groupSize),
    number: n,
    text: `${n} `.padEnd(240, 'lorem ipsum '),
  }
}

/** Wraps an object as the wire format requires. */
export const literal = (object: object) => ({ object })

/**
 * Creates the collection `documents` with an index by key and one by group, ordered by number. `more` extends the
 * definition of the collection.
 */
export async function createSchema(url: string, secret: string, more: object = {}): Promise<void> {
  const server = { url }
  const field = (name: string) => literal({ field: ['data', name] })
  const source = { collection: 'documents' }
  await query(server, secret, { create_collection: literal({ name: 'documents', ...more }) })
  const byKey = { name: 'by_key', source, terms: [field('key')] }
  await query(server, secret, { create_index: literal(byKey) })
  const byGroup = {
    name: 'by_group',
    source,
    terms: [field('group')],
    values: [field('number'), literal({ field: ['ref'] })],
  }
  await query(server, secret, { create_index: literal(byGroup) })
}

const documentsPerQuery = 250
const queriesAtOnce = 4

/** Writes the documents from `from` up to `to` (exclusive), and returns their ids in this order. */
export async function loadDocuments(
  url: string,
  secret: string,
  from: number,
  to: number,
  progress: (loaded: number) => void = () => {},
): Promise<readonly string[]> {
  const batches: (readonly string[])[] = []
  let next = from
  let loaded = 0
  const worker = async () => {
    while (next < to) {
      const start = next
      next = Math.min(next + documentsPerQuery, to)
      const documents = Array.from({ length: next - start }, (_, index) => literal(document(start + index)))
      const made = { create: { collection: 'documents' }, params: literal({ data: { var: 'data' } }) }
      const ids = {
        map: { lambda: 'data', expr: { select: ['ref', 'id'], from: made } },
        collection: documents,
      }
      batches[(start - from) / documentsPerQuery] = (await query({ url }, secret, ids)) as string[]
      loaded += documents.length
      progress(loaded)
    }
  }
  await Promise.all(Array.from({ length: queriesAtOnce }, worker))
  return batches.flat()
}
