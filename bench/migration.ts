// The case `migration`: the effect of a migration on others. The fields of many documents change and an index on the
// new field is built, while a client reads in another database.

import { keyOfNewDatabase, query, send, sendFql } from '../tests/support/http.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { literal } from './documents.ts'
import type { Times } from './neighbour-reader.ts'
import { readerOf } from './reader.ts'

/** Durations in milliseconds, unless stated otherwise. */
export interface MigrationResult {
  /** Duration of the push. */
  readonly pushMs: number
  /** Seconds from the push until all documents have the new form and the index is complete. */
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

/** Migrates `documents` documents in the empty directory `data`. */
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
    // Counts only the first document of each query, because a single query may not count all documents.
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

/** Returns whether background builds are still running. */
async function isUnderWay(server: ServerProcess): Promise<boolean> {
  const request = { method: 'GET', path: '/api/v1/health', secret: server.rootSecret }
  const { json, status, text } = await send(server, request)
  if (status !== 200) throw new Error(text)
  return (json as { work: { builds_count: number } }).work.builds_count > 0
}
