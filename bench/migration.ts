// What a migration does to others: the fields of many documents change, an index over the new one is built, and somebody reads
// in another database meanwhile.

import { keyOfNewDatabase, query, send, sendFql } from '../tests/support/http.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { literal } from './documents.ts'
import type { Times } from './neighbour-reader.ts'
import { readerOf } from './reader.ts'

/** Milliseconds, if nothing else is said. */
export interface MigrationResult {
  /** Until the push was answered. */
  readonly pushMs: number
  /** From the push until all documents are in their new form and the index is complete, in seconds. */
  readonly doneSeconds: number
  readonly alone: Times
  readonly beside: Times
}

/** Milliseconds between two reads. */
const everyMs = 5
const aloneMs = 5000
const pollMs = 500
const documentsPerQuery = 1000
const queriesAtOnce = 4

const fieldsBefore = 'name: String\n  group: Int\n  state: String'
const before = `collection Order {\n  ${fieldsBefore}\n}\n`
const after = `collection Order {
  ${fieldsBefore}
  total: Int
  index byTotal {
    terms [.total, .group]
  }
  migrations {
    add .total
    backfill .total = 7
  }
}
`

/** Migrates so many documents over the empty folder `data`. */
export async function measureMigration(data: string, documents: number): Promise<MigrationResult> {
  const server = await startProcess({ data })
  try {
    const secret = await keyOfNewDatabase(server, 'bench', 'admin')
    await push(server, secret, before)
    await fill(server, secret, documents)
    const reader = await readerOf(server, everyMs)
    reader.begin()
    await wait(aloneMs)
    const alone = await reader.stop()
    reader.begin()
    const fromMs = performance.now()
    await push(server, secret, after)
    const pushMs = performance.now() - fromMs
    while (await isUnderWay(server)) await wait(pollMs)
    const doneSeconds = (performance.now() - fromMs) / 1000
    const beside = await reader.stop()
    await reader.close()
    // One of each query's documents: to count them all would be more than one query may do.
    const { json, text } = await sendFql(server, secret, 'Order.byTotal(7, 0).count()')
    const { data: count } = json as { data: unknown }
    if (Number(count) !== Math.ceil(documents / documentsPerQuery)) throw new Error(text)
    return { pushMs, doneSeconds, alone, beside }
  } finally {
    await server.stop()
  }
}

const wait = (ms: number) => new Promise<void>(resolve => setTimeout(resolve, ms))

async function push(server: ServerProcess, secret: string, text: string): Promise<void> {
  const body = new FormData()
  body.set('main.fsl', new Blob([text]), 'main.fsl')
  const headers = { authorization: `Bearer ${secret}` }
  const path = '/schema/1/update?force=true'
  const response = await fetch(server.url + path, { method: 'POST', headers, body })
  if (response.status !== 200) throw new Error(await response.text())
}

async function fill(server: ServerProcess, secret: string, documents: number): Promise<void> {
  let next = 0
  const client = async () => {
    while (next < documents) {
      const from = next
      next += documentsPerQuery
      const rows = Array.from({ length: Math.min(documentsPerQuery, documents - from) }, (_, n) =>
        literal({ name: `order ${from + n}`, group: n, state: 'open' }),
      )
      const create = { create: { collection: 'Order' }, params: literal({ data: { var: 'data' } }) }
      await query(server, secret, { foreach: { lambda: 'data', expr: create }, collection: rows })
    }
  }
  await Promise.all(Array.from({ length: queriesAtOnce }, client))
}

/** Whether the background still builds or rewrites. */
async function isUnderWay(server: ServerProcess): Promise<boolean> {
  const request = { method: 'GET', path: '/api/v1/health', secret: server.rootSecret }
  const { json, status, text } = await send(server, request)
  if (status !== 200) throw new Error(text)
  return (json as { work: { builds_count: number } }).work.builds_count > 0
}
