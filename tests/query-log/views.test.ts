// Aggregates of the log and the search for single records: compared with plain counting, over several writers and
// segments, with cached aggregates, and over HTTP with the rights of each kind of secret.

import assert from 'node:assert/strict'
import { appendFile, readdir, readFile, rm, utimes, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import { epoch, micros } from '../../src/base/micros.ts'
import { systemRandom } from '../../src/base/random.ts'
import { quantile, timeClass, timeOfClass } from '../../src/query-log/log-aggregate.ts'
import { searchRecords } from '../../src/query-log/log-search.ts'
import { LogSummaries } from '../../src/query-log/log-summary.ts'
import { foldersOfFile } from '../support/folder.ts'
import { keyOfNewDatabase, query, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'
import { api, aroundNow } from './log-client.ts'
import { plainRequest, type TimedRequest, writeSegment } from './records.ts'

const start = Date.parse('2024-05-01T12:00:00Z')
const minute = 60_000
const never = new AbortController().signal

const newFolder = foldersOfFile()
const folder = newFolder()

interface CreatedDocument {
  readonly time: number
  readonly database: readonly string[]
  readonly status: number
  readonly ms: number
  readonly query: string
}

function requestOf({ time, database, status, ms, query }: CreatedDocument): TimedRequest {
  const costs = {
    computeOps: 1,
    byteReadOps: 2,
    byteWriteOps: 0,
    queryTimeMs: ms,
    txnRetries: 0,
    rateLimited: [],
  }
  return {
    time: micros(time * 1000),
    request: {
      ...plainRequest,
      query,
      bytesIn: query.length,
      bytesOut: 10,
      status,
      costs,
      database: { names: database, ids: idsOf(database) },
    },
  }
}

/** The ids of the databases `shop` (1), `shop/child` (1, 2) and `other` (3). */
const idsOf = (names: readonly string[]) => (names[0] === 'other' ? [3n] : [1n, 2n].slice(0, names.length))

async function segment(writer: string, records: readonly CreatedDocument[]): Promise<string> {
  const path = await writeSegment(folder, writer, records.map(requestOf))
  const last = (records.at(-1) as CreatedDocument).time
  await utimes(path, last / 1000, last / 1000)
  return path
}

const shapes = ['{"get":{"ref":1}}', '{"paginate":{"add":[1,2]}}', '{"add":[1]}']

/** Two hours of records, one every 100 ms, alternating between databases and shapes. */
const records: readonly CreatedDocument[] = Array.from({ length: 72_000 }, (_, at) => ({
  time: start + at * 100,
  database: at % 3 === 0 ? ['shop'] : at % 3 === 1 ? ['shop', 'child'] : ['other'],
  status: at % 50 === 0 ? 500 : at % 10 === 0 ? 404 : 200,
  ms: (at * 7) % 200,
  query: shapes[at % shapes.length] as string,
}))

let whole: LogSummaries

test('aggregates agree with plain counting, for a database with its descendants', async () => {
  // There are two writers with overlapping segments, and one of them has crashed within a line.
  const odd = records.filter((_, at) => at % 2 === 1)
  const even = records.filter((_, at) => at % 2 === 0)
  for (let at = 0; at < 6; at++) {
    await segment('aa', odd.slice(at * 6000, (at + 1) * 6000))
    const path = await segment('bb', even.slice(at * 6000, (at + 1) * 6000))
    if (at < 5) continue
    await appendFile(path, 'TLB')
    await utimes(path, start / 1000 + 7200, start / 1000 + 7200)
  }
  whole = new LogSummaries(folder, systemRandom, () => micros((start + 999 * minute) * 1000))
  const from = start + 13 * minute
  const to = start + 71 * minute
  const filter = { from, to, regionGroup: 'us-std', database: '1' }
  const { totals, points, stepMs, shapes: found } = await whole.summary(filter, never)
  const expected = records.filter(each => each.time >= from && each.time < to && each.database[0] === 'shop')
  assert.equal(totals.requests, expected.length)
  assert.equal(totals.serverErrors, expected.filter(({ status }) => status === 500).length)
  assert.equal(totals.clientErrors, expected.filter(({ status }) => status === 404).length)
  const sumMs = expected.reduce((sum, { ms }) => sum + ms, 0)
  assert.equal(totals.queryTimeMs, sumMs)
  assert.equal(totals.readOps, expected.length * 2)
  assert.equal(stepMs, minute)
  assert.equal(points.length, 58)
  const counted = points.reduce((sum, { requests }) => sum + requests, 0)
  assert.equal(counted, expected.length)
  const shapes = found.reduce((sum, { requests }) => sum + requests, 0)
  assert.equal(shapes, expected.length, 'shapes are those of the span and no others')
  const sorted = expected.map(({ ms }) => ms).sort((left, right) => left - right)
  const median = sorted[Math.ceil(sorted.length * 0.5) - 1] as number
  assert.ok(Math.abs((totals.p50 ?? 0) - median) <= median * 0.1, `${totals.p50} is about ${median}`)
})

test('aggregates of closed segments are cached and reused', async () => {
  const filter = { from: start - minute, to: start + 200 * minute, regionGroup: 'us-std' }
  const first = await whole.summary(filter, never)
  assert.equal(first.totals.requests, records.length)
  const kept = await readdir(join(folder, 'sums'))
  assert.equal(kept.length, 12)
  const path = join(folder, 'sums', kept[0] as string)
  const text = gunzipSync(await readFile(path)).toString()
  await writeFile(path, gzipSync(text.replace(/(?<="minutes":\[\[\d+,)\d+/, '1000000')))
  const again = new LogSummaries(folder, systemRandom, () => micros((start + 999 * minute) * 1000))
  assert.ok((await again.summary(filter, never)).totals.requests > 1_000_000, 'the kept sums are read')
  await writeFile(path, '{"damaged')
  const mended = new LogSummaries(folder, systemRandom, () => micros((start + 999 * minute) * 1000))
  assert.equal((await mended.summary(filter, never)).totals.requests, records.length, 'damage is made anew')
  await rm(join(folder, kept[0]?.replace('.json.gz', '.log') as string))
  await mended.removeOrphans()
  assert.equal((await readdir(join(folder, 'sums'))).length, 11, 'sums go with their segment')
})

test('the summary of a database is complete if very many databases share a segment', async () => {
  const own = newFolder()
  const shape = '{"add":[1]}'
  const request = (id: bigint, time: number): TimedRequest => {
    const created = requestOf({ time, database: ['many'], status: 200, ms: 10, query: shape })
    return { ...created, request: { ...created.request, database: { names: ['many'], ids: [id] } } }
  }
  const ids = Array.from({ length: 80_000 }, (_, at) => BigInt(at + 100))
  const last = ids.at(-1) as bigint
  const requests = [...ids.map(id => request(id, start)), request(last, start + 1)]
  await utimes(await writeSegment(own, 'dd', requests), start / 1000, start / 1000)
  const whole = [start - minute, start + 60 * minute] as const
  const part = [start, start + minute] as const
  const open = () => new LogSummaries(own, systemRandom, () => micros((start + 999 * minute) * 1000))
  const count = async (summaries: LogSummaries, [from, to]: typeof whole | typeof part, id?: bigint) => {
    const filter = { from, to, regionGroup: 'us-std', ...(id && { database: String(id) }) }
    return (await summaries.summary(filter, never)).totals.requests
  }
  const summaries = open()
  assert.equal(await count(summaries, whole), ids.length + 1)
  assert.equal(await count(summaries, whole, 100n), 1)
  assert.equal(await count(summaries, whole, last), 2)
  assert.equal(await count(summaries, part, last), 2)
  assert.equal(await count(open(), whole, last), 2, 'with stored sums')
})

test('shapes that are new, more frequent or slower than in the previous span are reported, and no others', async () => {
  const own = newFolder()
  const many = (count: number, from: number, more: Partial<CreatedDocument>): CreatedDocument[] =>
    Array.from({ length: count }, (_, at) => ({
      time: from + at * 100,
      database: ['shop'],
      status: 200,
      ms: 10,
      query: '{"add":[1]}',
      ...more,
    }))
  const before = [
    ...many(20, start, {}),
    ...many(5, start, { query: '{"get":1}' }),
    ...many(20, start, { query: '{"time":1}' }),
    ...many(2, start, { query: '{"abort":"a"}', status: 400 }),
  ]
  const now = start + minute
  const after = [
    ...many(25, now, { ms: 12 }),
    ...many(20, now, { query: '{"get":1}' }),
    ...many(20, now, { query: '{"time":1}', ms: 40 }),
    ...many(3, now, { query: '{"paginate":1}' }),
    ...many(9, now, { query: '{"abort":"a"}', status: 400 }),
    ...many(1, now, { query: '{"abort":"a"}', status: 503 }),
  ]
  const requests = [...before, ...after].sort((left, right) => left.time - right.time).map(requestOf)
  const path = await writeSegment(own, 'cc', requests)
  await utimes(path, start / 1000 + 120, start / 1000 + 120)
  const sums = new LogSummaries(own, systemRandom, () => micros((start + 999 * minute) * 1000))
  const filter = { from: now, to: now + minute, regionGroup: 'us-std' }
  const { errors, queries, totals, totalsBefore } = await sums.changes(filter, never)
  assert.deepEqual([totalsBefore.requests, totals.requests], [before.length, after.length])
  const told = new Map(queries.map(({ changes, name }) => [name, changes]))
  assert.deepEqual(
    told,
    new Map([
      ['{"time":"?"}', ['slower']],
      ['{"get":"?"}', ['more often']],
      ['{"paginate":"?"}', ['new']],
    ]),
  )
  assert.deepEqual(
    errors.map(({ changes, name }) => [name, ...changes]),
    [
      ['400', 'more often'],
      ['503', 'new'],
    ],
  )
  const odd = await sums.changes({ ...filter, from: now - minute / 3, to: now + minute / 3 }, never)
  assert.deepEqual([odd.totalsBefore.requests, odd.totals.requests], [0, requests.length], 'whole minutes')
})

test('long spans have few points, and a read without a waiting client ends', async () => {
  const filter = { from: start - 60 * 24 * 90 * minute, to: start, regionGroup: 'us-std' }
  const { points } = await whole.summary(filter, never)
  assert.ok(points.length <= 240)
  const gone = AbortSignal.abort(new Error('gone'))
  const fresh = new LogSummaries(folder, systemRandom, () => epoch)
  await rm(join(folder, 'sums'), { recursive: true })
  await assert.rejects(fresh.summary({ ...filter, to: start + 200 * minute }, gone), /gone/)
})

test('classes of durations are narrow and ordered', () => {
  for (let ms = 0; ms < 100_000; ms += 37) {
    const lower = timeOfClass(timeClass(ms))
    assert.ok(lower <= ms + 1 && ms - lower <= Math.max(1, ms * 0.1), `${ms} in the class from ${lower}`)
  }
  assert.equal(quantile(new Map(), 0.5), undefined)
  assert.equal(
    quantile(
      new Map([
        [3, 99],
        [10, 1],
      ]),
      0.99,
    ),
    3,
  )
  assert.equal(
    quantile(
      new Map([
        [3, 98],
        [10, 2],
      ]),
      0.99,
    ),
    10,
  )
})

for (const examinedMax of [undefined, 1, 300])
  test(`single records are found from the newest on, each on exactly one page, after ${examinedMax ?? 'all'} records`, () =>
    pagesAreComplete(examinedMax))

async function pagesAreComplete(examinedMax: number | undefined): Promise<void> {
  const search = {
    from: start,
    to: start + 200 * minute,
    regionGroup: 'us-std',
    database: '2',
    status: '4xx',
    text: 'PAGINATE',
    slowerThanMs: 100,
    limit: 70,
    skip: 0,
  }
  const seen: string[] = []
  let hasShortPage = false
  let next: { to: number; skip: number } | undefined = { to: search.to, skip: 0 }
  for (let pages = 0; next; pages++) {
    assert.ok(pages < 100)
    const page: Awaited<ReturnType<typeof searchRecords>> = await searchRecords(
      folder,
      { ...search, ...next },
      never,
      examinedMax,
    )
    seen.push(...page.records.map(({ record }) => record.TS))
    if (page.next !== undefined && page.records.length < search.limit) hasShortPage = true
    next = page.next
  }
  assert.equal(hasShortPage, examinedMax !== undefined)
  assert.deepEqual(seen, [...seen].sort().reverse())
  assert.equal(new Set(seen).size, seen.length)
  assert.ok(seen.length > 70, `${seen.length} records`)
}

test('the next segment of a writer bounds the times of a copied segment, whose file is newer', async () => {
  const copied = newFolder()
  const at = (time: number) =>
    requestOf({ time, database: ['shop'], status: 200, ms: 1, query: '{"add":[1,2]}' })
  for (const from of [0, 20, 40]) {
    const requests = [from, from + 10].map(minutes => at(start + minutes * minute))
    const path = await writeSegment(copied, 'a1', requests)
    await utimes(path, start / 1000 + 3600, start / 1000 + 3600)
  }
  const search = { from: start, to: start + 60 * minute, regionGroup: 'us-std', limit: 10, skip: 0 }
  const { next, records } = await searchRecords(copied, search, never, 1)
  assert.equal(records.length, 1)
  assert.ok(next && next.to > start + 40 * minute && next.to < start + 41 * minute, String(next?.to))
})

const server = serverOfFile()

test('over HTTP each secret sees the logs that it may export', async () => {
  const admin = await keyOfNewDatabase(server, 'app', 'admin')
  const foreign = await keyOfNewDatabase(server, 'foreign', 'admin')
  const plain = await keyOfNewDatabase(server, 'third', 'server')
  await query(server, admin, { add: [1, 2] })
  await send(server, { secret: admin, query: { nonsense: 1 } })
  const look = (secret: string, view: string, body: object) =>
    api(server, secret, 'POST', `/api/v1/logs/${view}?type=query`, { ...aroundNow(), ...body })
  const summary = await look(admin, '_summary', { database: 'us-std/app' })
  assert.equal(summary.status, 200)
  const totals = summary.json.totals as { requests: number; client_errors: number }
  assert.deepEqual([totals.requests, totals.client_errors], [2, 1])
  const all = await look(server.rootSecret, '_summary', { region_group: 'us-std' })
  assert.ok((all.json.totals as { requests: number }).requests > 2)
  const records = await look(admin, '_records', { database: 'us-std/app', status_class: '4xx' })
  assert.deepEqual(
    (records.json.records as { RESPONSE_CODE: string }[]).map(({ RESPONSE_CODE }) => RESPONSE_CODE),
    ['400'],
  )
  assert.equal((await look(foreign, '_summary', { database: 'us-std/app' })).status, 403)
  assert.equal((await look(admin, '_records', { region_group: 'us-std' })).status, 403)
  assert.equal((await look(plain, '_summary', { database: 'us-std/third' })).status, 403)
  assert.equal((await look('nonsense', '_summary', { database: 'us-std/app' })).status, 401)
  assert.equal((await look(admin, '_records', { database: 'us-std/app', max_results: -1 })).status, 400)
  assert.equal((await look(admin, '_records', { database: 'us-std/app', next_token: 'x' })).status, 400)
})
