// Sample data: an hour of a shop's query log, with more requests towards the end, some slow ones and a few errors.

import { utimes } from 'node:fs/promises'
import { micros } from '../src/base/micros.ts'
import { recordsOf } from '../src/query-log/segment-blocks.ts'
import { listSegments } from '../src/query-log/segment-files.ts'
import { plainRequest, type TimedRequest, writeSegment } from '../tests/query-log/records.ts'

/** Queries with their frequency, usual duration in milliseconds and costs. */
const kinds = [
  { query: '{"get":{"match":{"index":"a"},"terms":"b"}}', weight: 5, ms: 2, read: 2, write: 0 },
  {
    query:
      '{"map":{"lambda":"r","expr":{"get":{"var":"r"}}},"collection":{"paginate":{"match":{"index":"a"}}}}',
    weight: 3,
    ms: 9,
    read: 17,
    write: 0,
  },
  {
    query: '{"create":{"collection":"a"},"params":{"object":{"data":1}}}',
    weight: 2,
    ms: 6,
    read: 0,
    write: 3,
  },
  {
    query: '{"login":{"match":{"index":"a"},"terms":"b"},"params":{"object":{"password":"c"}}}',
    weight: 1,
    ms: 58,
    read: 2,
    write: 1,
  },
] as const

const minutes = 60
const minuteMs = 60_000

/** Returns a number from 0 to 1, which depends only on `index`. */
function noise(index: number): number {
  const wave = Math.sin(index * 127.1) * 43_758.5453
  return wave - Math.floor(wave)
}

/** The ids of a database and its ancestors, taken from an existing record of its log. */
async function idsOf(folder: string, database: readonly string[]): Promise<readonly bigint[]> {
  for (const { path } of await listSegments(folder))
    for await (const { records } of recordsOf(path, undefined)) {
      const found = records.find(record => JSON.parse(record.line()).DATABASE.join() === database.join())
      if (found !== undefined) return found.trail.split('/').filter(Boolean).map(BigInt)
    }
  throw new Error(`the query log has no record of ${database.join('/')}`)
}

/** Writes the last hour of a database's log. The log must already contain a record of the database. */
export async function writeSampleLog(folder: string, database: readonly string[]): Promise<void> {
  const subject = { names: database, ids: await idsOf(folder, database) }
  const start = Math.floor(Date.now() / minuteMs) * minuteMs - minutes * minuteMs
  const requests: TimedRequest[] = []
  for (let at = 0, count = 0; at < minutes; at++) {
    const inMinute = Math.round(60 + 40 * Math.sin(at / 7) + at * 1.5 + noise(at) * 20)
    for (let each = 0; each < inMinute; each++, count++) {
      const time = start + at * minuteMs + (each / inMinute) * minuteMs
      requests.push({ time: micros(Math.round(time * 1000)), request: requestTo(subject, count) })
    }
  }
  const path = await writeSegment(folder, 'a0', requests)
  await utimes(path, Date.now() / 1000, Date.now() / 1000)
}

function requestTo(
  database: { readonly names: readonly string[]; readonly ids: readonly bigint[] },
  index: number,
): TimedRequest['request'] {
  const drawn = noise(index * 3) * kinds.reduce((sum, { weight }) => sum + weight, 0)
  let passed = 0
  const kind =
    kinds.find(({ weight }) => {
      passed += weight
      return drawn < passed
    }) ?? kinds[0]
  const isFailed = noise(index * 7) > 0.97
  const queryTimeMs = Math.round(kind.ms * (0.6 + noise(index * 5) * (noise(index * 11) > 0.98 ? 9 : 1)))
  const costs = {
    computeOps: 1,
    byteReadOps: kind.read,
    byteWriteOps: isFailed ? 0 : kind.write,
    queryTimeMs,
    txnRetries: 0,
    rateLimited: [],
  }
  return {
    ...plainRequest,
    headers: { 'user-agent': 'shop' },
    query: kind.query,
    bytesIn: kind.query.length,
    bytesOut: 120 + kind.read * 90,
    status: isFailed ? 404 : 200,
    costs,
    database,
  }
}
