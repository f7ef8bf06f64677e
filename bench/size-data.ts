// The documents of the case `size`, and their schema: documents of 300 bytes with three indexes.

import { fql, query, send } from '../tests/support/http.ts'
import type { RunningServer } from '../tests/support/server.ts'
import { groupSize, literal } from './documents.ts'

/** Different values of the term of the index of version 10. */
const buckets = 1000

/** Spreads neighbouring documents over the whole unique index, as email addresses do. */
const scattered = (n: number) => Math.imul(n + 1, 0x9e3779b1) >>> 0

/** Returns a document of about 300 bytes of JSON. Its id is n + 1. */
export function sizedDocument(n: number) {
  return {
    key: `${scattered(n).toString(36)}-${n}`,
    group: Math.floor(n / groupSize),
    number: n,
    bucket: scattered(n) % buckets,
    text: `${n} `.padEnd(220, 'lorem ipsum '),
  }
}

/**
 * Creates the collection `documents`, with a unique index `by_key`, an index `by_group` of two values, and the index
 * `byBucket` of version 10.
 */
export async function createSizedSchema(server: RunningServer, secret: string): Promise<void> {
  await fql(
    server,
    secret,
    `Collection.create({
      name: "documents",
      indexes: { byBucket: { terms: [{ field: ".bucket" }], values: [{ field: ".number" }] } }
    })`,
  )
  const source = { collection: 'documents' }
  const field = (name: string) => literal({ field: ['data', name] })
  const byKey = { name: 'by_key', source, terms: [field('key')], unique: true }
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
/** Time limit of a query of the load, in milliseconds: creates wait while the disk is slower. */
const loadMs = 300_000

/** Creates the documents with numbers from `from` up to `to` (exclusive). */
export async function createSized(
  server: RunningServer,
  secret: string,
  { collection, from, to, more = {} }: { collection: string; from: number; to: number; more?: object },
): Promise<void> {
  const ref = { ref: { collection }, id: { var: 'id' } }
  const create = {
    create: ref,
    params: literal({ data: { var: 'data' }, ...more }),
  }
  let next = from
  const worker = async () => {
    while (next < to) {
      const start = next
      next = Math.min(next + documentsPerQuery, to)
      const pairs = Array.from({ length: next - start }, (_, at) => [
        String(start + at + 1),
        literal(sizedDocument(start + at)),
      ])
      const each = { lambda: ['id', 'data'], expr: create }
      const answer = await send(server, {
        secret,
        query: { do: [{ foreach: each, collection: pairs }, null] },
        headers: { 'x-query-timeout': String(loadMs) },
      })
      if (answer.status >= 300) throw new Error(`status ${answer.status}: ${answer.text}`)
    }
  }
  await Promise.all(Array.from({ length: queriesAtOnce }, worker))
}
