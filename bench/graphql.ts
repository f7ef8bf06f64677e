// The case `graphql`: compares operations of GraphQL with queries of version 4 that do the same work on the same
// documents.

import assert from 'node:assert/strict'
import { dataOf, importSchema } from '../tests/support/graphql.ts'
import { keyOfNewDatabase, query } from '../tests/support/http.ts'
import { BenchServer } from './bench-server.ts'
import { reference } from './cases.ts'
import { createSchema, groupSize, literal, loadDocuments } from './documents.ts'
import { heading } from './report.ts'
import { type Comparison, compare, type TurnPlan } from './turns.ts'

interface GraphqlOptions {
  readonly folder: string
  readonly documents: number
  readonly plan: TurnPlan
}

const sdl = `
type Document @collection(name: "documents") { key: String! group: Int! number: Int! text: String! owner: Owner }
type Owner { name: String! documents: [Document!] @relation }
type Query { documentsByGroup(group: Int!): [Document!] }`

const requestCount = 500

const listSize = 64

/** Number of documents that each query of the preparation updates. */
const updatedAtOnce = 250

/** Loads the documents, and prints the results of all comparisons. */
export async function runGraphql({ documents, folder, plan }: GraphqlOptions): Promise<void> {
  const server = await BenchServer.start(folder)
  try {
    const { url } = server.process
    const secret = await keyOfNewDatabase(server.process, 'bench', 'admin')
    await createSchema(url, secret)
    await importSchema(server.process, secret, sdl)
    const ids = await loadDocuments(url, secret, 0, documents)
    await addOwners(url, secret, ids)
    console.log(`\ngraphql: the same work in version 4 and in GraphQL\n${heading}`)
    for (const each of comparisons(ids)) {
      await checkRequests(each, server.process.url, secret)
      await compare(each, server, secret, plan)
    }
  } finally {
    await server.stop()
  }
}

/** The documents of a group have different owners. */
async function addOwners(url: string, secret: string, ids: readonly string[]): Promise<void> {
  const owner = (n: number) => ({ ref: { collection: 'Owner' }, id: String(n + 1) })
  for (let n = 0; n < groupSize; n++) {
    const params = literal({ data: literal({ name: `owner ${n}` }) })
    await query({ url }, secret, { create: owner(n), params })
  }
  for (let from = 0; from < ids.length; from += updatedAtOnce) {
    const updates = ids.slice(from, from + updatedAtOnce).map((id, n) => ({
      update: reference(id),
      params: literal({ data: literal({ owner: owner((from + n) % groupSize) }) }),
    }))
    await query({ url }, secret, { do: [...updates, null] })
  }
}

function comparisons(ids: readonly string[]): readonly Comparison[] {
  const groups = Math.max(1, Math.floor(ids.length / groupSize))
  const numbered = <T>(make: (n: number) => T) => Array.from({ length: requestCount }, (_, n) => make(n))
  // A prime number, so that consecutive requests do not read neighbouring documents.
  const idOf = (n: number) => ids[(n * 7919) % ids.length] as string
  const withOwner = {
    lambda: 'ref',
    expr: {
      let: [{ document: { get: { var: 'ref' } } }],
      in: literal({
        document: { var: 'document' },
        owner: { get: { select: ['data', 'owner'], from: { var: 'document' } } },
      }),
    },
  }
  return [
    {
      name: 'find by id',
      baseline: { title: 'version 4', path: '/', bodies: numbered(n => ({ get: reference(idOf(n)) })) },
      compared: {
        title: 'GraphQL',
        path: '/graphql',
        bodies: numbered(n => ({
          query: 'query($id: ID!) { findDocumentByID(id: $id) { key group number text } }',
          variables: { id: idOf(n) },
        })),
      },
    },
    {
      name: `list of ${listSize} with a relation`,
      baseline: {
        title: 'version 4',
        path: '/',
        bodies: numbered(n => ({
          map: withOwner,
          collection: {
            paginate: { match: { index: 'documentsByGroup' }, terms: n % groups },
            size: listSize,
          },
        })),
      },
      compared: {
        title: 'GraphQL',
        path: '/graphql',
        bodies: numbered(n => ({
          query: `query($group: Int!) { documentsByGroup(group: $group, _size: ${listSize}) { data { key group number text owner { name } } } }`,
          variables: { group: n % groups },
        })),
      },
    },
  ]
}

/** Sends the first request of each way, so that mistakes show before the measurement. */
async function checkRequests({ baseline, compared }: Comparison, url: string, secret: string): Promise<void> {
  await query({ url }, secret, baseline.bodies[0])
  const [body] = compared.bodies as readonly { readonly query: string; readonly variables: object }[]
  assert.ok(body)
  const [value] = Object.values(await dataOf({ url }, secret, body.query, body.variables))
  assert.ok(value)
}
