// Segments of version 0.2 stay readable, and version 0.2 rejects new segments instead of returning incomplete results.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { gunzip, gzipSync } from 'node:zlib'
import { micros } from '../../src/base/micros.ts'
import { systemTimers } from '../../src/base/timers.ts'
import { version4 } from '../../src/fql4/language.ts'
import { makeRecordFolder } from '../../src/query-log/record-folder.ts'
import { gatherRecords, SegmentUploader } from '../../src/query-log/segment-exchange.ts'
import { matchingRecords } from '../../src/query-log/segment-reader.ts'
import type { SharedLog } from '../../src/query-log/shared-log.ts'
import type { Chunk } from '../../src/storage/postgres/log-chunks.ts'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { keyOfNewDatabase, send } from '../support/http.ts'
import { startServer } from '../support/server.ts'
import { download, finished, requestExport } from './log-client.ts'
import { startMs } from './manual-time.ts'
import { LineFormat } from './old-lines.ts'
import { plainRequest, writeSegment } from './records.ts'

const folder = folderOfFile()
const format = new LineFormat('us-std', { '4': version4 })
const time = (second: number) => micros((startMs + second * 1000) * 1000)
const lineOf = (mark: string, second: number) =>
  format.parts({ ...plainRequest, tags: [['mark', mark]] }, time(second)).record

async function recordsIn(folder: string): Promise<string> {
  const blocks: Buffer[] = []
  const all = { from: 0, to: 9e12, regionGroup: 'us-std' }
  for await (const block of matchingRecords(folder, all)) blocks.push(block)
  return Buffer.concat(blocks).toString()
}

test('the folder of 0.2 is moved, also if a move was interrupted, and 0.2 cannot use it any more', async () => {
  const log = join(folder, 'moved')
  const earlier = join(log, 'segments')
  const name = (second: number) => `${String(time(second)).padStart(19, '0')}-a1.ndjson`
  mkdirSync(join(earlier, 'sums'), { recursive: true })
  writeFileSync(join(earlier, name(1)), lineOf('first', 1))
  writeFileSync(join(earlier, 'sums', 'x.json.gz'), 'sums')
  makeRecordFolder(log)
  const records = join(log, 'records')
  assert.equal(await recordsIn(records), lineOf('first', 1))
  // Version 0.2 creates its folder at the start.
  assert.throws(() => mkdirSync(earlier, { recursive: true }), { code: 'EEXIST' })
  assert.match(readFileSync(earlier, 'utf8'), /Versions before 1\.0 cannot read it/)
  rmSync(earlier)
  mkdirSync(earlier)
  writeFileSync(join(earlier, name(2)), lineOf('second', 2))
  makeRecordFolder(log)
  makeRecordFolder(log)
  assert.equal(await recordsIn(records), lineOf('first', 1) + lineOf('second', 2))
  assert.deepEqual(readdirSync(log).sort(), ['records', 'segments'])
})

test('an export contains the records of 0.2 and the new records', async () => {
  const data = join(folder, 'data')
  const segments = join(data, 'query-log/segments')
  mkdirSync(segments, { recursive: true })
  const now = micros(Date.now() * 1000 - 60_000_000)
  const { record } = format.parts({ ...plainRequest, tags: [['mark', 'old']] }, now)
  writeFileSync(join(segments, `${String(now).padStart(19, '0')}-a1.ndjson`), `/17/${record}`)
  await using server = await startServer({ data })
  const secret = await keyOfNewDatabase(server, 'shop', 'admin')
  await send(server, { secret, query: { now: null }, headers: { 'x-fauna-tags': 'mark=new' } })
  const { request_id: id } = await requestExport(server, server.rootSecret, { region_group: 'us-std' })
  const exported = await download((await finished(server, server.rootSecret, id)).presigned_url)
  const marks = exported.flatMap(({ TAGS }) => (TAGS as { mark?: string }).mark ?? [])
  assert.deepEqual(marks, ['old', 'new'])
  assert.ok(!existsSync(join(segments, 'sums')))
})

/** A shared store with chunks in memory. */
function sharedLog(): { readonly shared: SharedLog; readonly stored: Map<Chunk, Uint8Array> } {
  const stored = new Map<Chunk, Uint8Array>()
  const chunks: Partial<SharedLog['chunks']> = {
    uploadedBytes: async () => new Map(),
    add: async (chunk, body) => void stored.set(chunk, body as Uint8Array),
    between: async () => [...stored.keys()],
    body: async chunk => stored.get(chunk),
    request: async () => {},
    requestedTime: async () => micros(Number.MAX_SAFE_INTEGER),
    report: async () => {},
    reportedByAll: async () => micros(Number.MAX_SAFE_INTEGER),
    retire: async () => {},
  }
  const shared = { now: () => micros(Date.now() * 1000), chunks } as unknown as SharedLog
  return { shared, stored }
}

test('machines of both versions: a new machine reads all segments, and 0.2 fails at new segments', async () => {
  const [own, other] = [join(folder, 'own'), join(folder, 'other')]
  for (const path of [own, other]) mkdirSync(path)
  const { shared, stored } = sharedLog()
  const old = Buffer.from(lineOf('old', 1))
  const oldChunk = { writer: 'b1', start: time(1), position: 0, bytes: old.length, until: time(2) }
  stored.set(oldChunk, gzipSync(old))
  const path = await writeSegment(own, 'a1', [
    { time: time(3), request: { ...plainRequest, tags: [['mark', 'new']] } },
  ])
  const uploader = new SegmentUploader({
    folder: own,
    shared,
    timers: systemTimers,
    onFailure: cause => assert.fail(String(cause)),
  })
  await eventually('the upload', () => stored.size === 2)
  await uploader.close()
  const [, body] = [...stored].find(([{ writer }]) => writer === 'a1') as [Chunk, Uint8Array]
  // Version 0.2 expands each chunk with gzip.
  await assert.rejects(promisify(gunzip)(body), /incorrect header check/)
  const span = { from: 0, to: 9e12 }
  const { signal } = new AbortController()
  await gatherRecords({ folder: other, shared, timers: systemTimers }, span, time(9), signal)
  assert.equal(await recordsIn(other), lineOf('old', 1) + lineOf('new', 3))
  const copied = readdirSync(other).find(name => name.endsWith('.log')) as string
  assert.deepEqual(readFileSync(join(other, copied)), readFileSync(path))
})
