// Sample data: an hour of a shop's query log, with more requests towards the end, some slow ones and a few errors.

import { readdir, readFile, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { micros } from '../src/base/micros.ts'
import { version4 } from '../src/fql4/language.ts'
import { splitLine } from '../src/query-log/ownership.ts'
import { RecordFormat } from '../src/query-log/record.ts'
import { segmentPath } from '../src/query-log/segment-files.ts'

/** With their frequency, usual duration in milliseconds and costs. */
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

/** From 0 to 1; depends only on `place`. */
function noise(place: number): number {
  const wave = Math.sin(place * 127.1) * 43_758.5453
  return wave - Math.floor(wave)
}

/** Taken from an existing record of the database's log. */
async function trailOf(folder: string, database: readonly string[]): Promise<string> {
  const asked = `"DATABASE":${JSON.stringify(database)}`
  for (const name of await readdir(folder)) {
    if (!name.endsWith('.ndjson')) continue
    const lines = (await readFile(join(folder, name), 'utf8')).split('\n')
    const { trail } = splitLine(lines.find(line => line.includes(asked)) ?? '')
    if (trail !== undefined) return trail
  }
  throw new Error(`the query log has no record of ${database.join('/')}`)
}

/** Writes the last hour of a database's log. The log must already contain a record of the database. */
export async function writeSampleLog(folder: string, database: readonly string[]): Promise<void> {
  const format = new RecordFormat('us-std', { '4': version4 })
  const trail = await trailOf(folder, database)
  const start = Math.floor(Date.now() / minuteMs) * minuteMs - minutes * minuteMs
  const lines: string[] = []
  for (let at = 0, place = 0; at < minutes; at++) {
    const requests = Math.round(60 + 40 * Math.sin(at / 7) + at * 1.5 + noise(at) * 20)
    for (let each = 0; each < requests; each++, place++) {
      const time = start + at * minuteMs + (each / requests) * minuteMs
      lines.push(trail + lineOf(format, database, time, place))
    }
  }
  const path = segmentPath(folder, micros(start * 1000), 'a0')
  await writeFile(path, lines.join(''))
  await utimes(path, Date.now() / 1000, Date.now() / 1000)
}

function lineOf(format: RecordFormat, database: readonly string[], time: number, place: number): string {
  const drawn = noise(place * 3) * kinds.reduce((sum, { weight }) => sum + weight, 0)
  let passed = 0
  const kind =
    kinds.find(({ weight }) => {
      passed += weight
      return drawn < passed
    }) ?? kinds[0]
  const isFailed = noise(place * 7) > 0.97
  const queryTimeMs = Math.round(kind.ms * (0.6 + noise(place * 5) * (noise(place * 11) > 0.98 ? 9 : 1)))
  const costs = {
    computeOps: 1,
    byteReadOps: kind.read,
    byteWriteOps: isFailed ? 0 : kind.write,
    queryTimeMs,
    txnRetries: 0,
    rateLimited: [],
  }
  return format.parts(
    {
      method: 'POST',
      headers: { 'user-agent': 'shop' },
      language: '4',
      apiVersion: '4',
      query: kind.query,
      bytesIn: kind.query.length,
      bytesOut: 120 + kind.read * 90,
      status: isFailed ? 404 : 200,
      costs,
      database: { names: database, ids: [] },
      tags: [],
      traceId: '0'.repeat(32),
      spanId: '0'.repeat(16),
    },
    micros(Math.round(time * 1000)),
  ).record
}
