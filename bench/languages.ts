// The two languages beside each other: the same work over the same documents, in one run.

import { query, send } from '../tests/support/http.ts'
import { reference } from './cases.ts'
import { document, groupSize, literal } from './documents.ts'

/** One piece of work in both languages; the lists are gone round. */
export interface LanguageCase {
  readonly name: string
  /** Bodies of `POST /`. */
  readonly version4: readonly unknown[]
  /** Bodies of `POST /query/1`. */
  readonly version10: readonly unknown[]
}

const requestCount = 500

/** Adds the index that the cases of version 10 read to the collection of the benchmark. `secret` is an administrator's. */
export async function prepareVersion10(url: string, secret: string): Promise<void> {
  const byGroup = '{ terms: [{ field: "group" }], values: [{ field: "number" }] }'
  const text = `Collection.byName("documents")!.update({ indexes: { byGroup: ${byGroup} } }).indexes.byGroup.status`
  const deadline = Date.now() + 60_000
  for (let body = text; ; body = 'Collection.byName("documents")!.indexes.byGroup.status') {
    const {
      json,
      status,
      text: answer,
    } = await send({ url }, { path: '/query/1', secret, body: JSON.stringify({ query: body }) })
    if (status !== 200) throw new Error(answer)
    if ((json as { data: unknown }).data === 'complete') return
    if (Date.now() > deadline) throw new Error(`the index is not complete: ${answer}`)
    await new Promise(resolve => setTimeout(resolve, 200))
  }
}

/** The cases over these documents. */
export function languageCases(ids: readonly string[]): readonly LanguageCase[] {
  const groups = Math.max(1, Math.floor(ids.length / groupSize))
  const numbered = <T>(make: (n: number) => T) => Array.from({ length: requestCount }, (_, n) => make(n))
  const idOf = (n: number) => ids[(n * 7919) % ids.length] as string
  const lookUp = { lambda: ['number', 'ref'], expr: { get: { var: 'ref' } } }
  const all = { paginate: { documents: { collection: 'documents' } }, size: 100_000 }
  const isSmall = {
    lambda: 'ref',
    expr: { lt: [{ select: ['data', 'number'], from: { get: { var: 'ref' } } }, 5] },
  }
  return [
    {
      name: 'get by id',
      version4: numbered(n => ({ get: reference(idOf(n)) })),
      version10: numbered(n => ({ query: 'documents.byId(id)!', arguments: { id: idOf(n) } })),
    },
    {
      name: 'page of 16 documents',
      version4: numbered(n => ({
        map: lookUp,
        collection: { paginate: { match: { index: 'by_group' }, terms: n % groups }, size: 16 },
      })),
      version10: numbered(n => ({
        query: 'documents.byGroup(group)',
        arguments: { group: { '@int': String(n % groups) } },
      })),
    },
    {
      name: `where over ${ids.length} documents`,
      version4: [{ filter: isSmall, collection: all }],
      version10: [{ query: 'documents.where(.number < 5).toArray()' }],
    },
    // The last: it makes the collection longer.
    {
      name: 'create',
      version4: numbered(n => ({
        create: { collection: 'documents' },
        params: literal({ data: literal(document(2_000_000_000 + n)) }),
      })),
      version10: numbered(n => ({
        query: 'documents.create(fields)',
        arguments: { fields: tagged(document(2_000_000_000 + n)) },
      })),
    },
  ]
}

function tagged(fields: object): object {
  const entries = Object.entries(fields)
  return Object.fromEntries(
    entries.map(([name, value]) => [name, typeof value === 'number' ? { '@int': String(value) } : value]),
  )
}

/** Sends one request of a case in each language, so that a mistake shows before anything is measured. */
export async function tryCase(
  { version4, version10 }: LanguageCase,
  url: string,
  secret: string,
): Promise<void> {
  await query({ url }, secret, version4[0])
  const { status, text } = await send(
    { url },
    { path: '/query/1', secret, body: JSON.stringify(version10[0]), headers: { 'x-format': 'tagged' } },
  )
  if (status !== 200) throw new Error(text)
}
