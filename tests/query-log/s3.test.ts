// Exports to a bucket: against s3rver, a real S3 server from the npm registry, inside this process.

import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { after, before, test } from 'node:test'
import { systemClock } from '../../src/base/clock.ts'
import type { ExportStorage } from '../../src/query-log/export-storage.ts'
import { openS3Storage } from '../../src/query-log/s3-storage.ts'
import { rootQuery } from '../support/http.ts'
import { S3Bucket } from '../support/s3.ts'
import { startServer } from '../support/server.ts'
import { download, finished, requestExport } from './log-client.ts'

let s3: S3Bucket

before(async () => {
  s3 = await S3Bucket.start()
})
after(() => s3.stop())

const open = (): Promise<ExportStorage> =>
  openS3Storage({
    endpoint: s3.endpoint,
    bucket: s3.bucket,
    region: 'us-east-1',
    accessKey: s3.accessKey,
    secretKey: s3.secretKey,
    now: systemClock.now,
  })

const inAnHour = () => Math.floor(systemClock.now() / 1e6) + 3600

test('an export of several parts is complete', async () => {
  const storage = await open()
  const block = Buffer.alloc(1_000_000)
  const blocks = 20
  const content = Readable.from(
    (function* () {
      for (let n = 0; n < blocks; n++) yield Buffer.from(block.fill(n))
    })(),
    { objectMode: false },
  )
  assert.equal(await storage.exists('large'), false)
  await storage.store('large', content, new AbortController().signal)
  assert.equal(await storage.exists('large'), true)
  const response = await fetch(await storage.address('large', inAnHour()))
  const bytes = Buffer.from(await response.arrayBuffer())
  assert.equal(bytes.length, blocks * block.length)
  for (let n = 0; n < blocks; n++) assert.equal(bytes[n * block.length], n)
  await storage.remove('large')
  assert.equal(await storage.exists('large'), false)
})

test('an interrupted upload leaves nothing', async () => {
  const storage = await open()
  const controller = new AbortController()
  const content = new Readable({ read() {} })
  content.push(Buffer.alloc(9_000_000))
  const storing = storage.store('half', content, controller.signal)
  controller.abort()
  await assert.rejects(storing)
  assert.equal(await storage.exists('half'), false)
})

test('the URL is signed for the requested time', async () => {
  const storage = await open()
  await storage.store('small', Readable.from([Buffer.from('text')]), new AbortController().signal)
  const url = new URL(await storage.address('small', inAnHour()))
  assert.equal(await (await fetch(url)).text(), 'text')
  assert.match(url.searchParams.get('X-Amz-Signature') ?? '', /^[0-9a-f]{64}$/)
  // The calls before the signature take some time. The default of the library is 900 seconds.
  const seconds = Number(url.searchParams.get('X-Amz-Expires'))
  assert.ok(seconds > 1800 && seconds <= 3600, `${seconds} s`)
})

test('a server with a bucket exports to it', async () => {
  await using server = await startServer({
    flags: s3.flags(),
    env: s3.env,
  })
  await rootQuery(server, { now: null })
  const { request_id: id } = await requestExport(server, server.rootSecret, { region_group: 'us-std' })
  const end = await finished(server, server.rootSecret, id)
  assert.equal(end.state, 'Complete', server.stderr())
  assert.ok((end.presigned_url as string).startsWith(`${s3.endpoint}/${s3.bucket}/${id}.ndjson.gz?`))
  const [record] = await download(end.presigned_url)
  assert.equal(record?.FQL_SHAPE, '{"now":"?"}')
})

test('a missing bucket makes the export fail, and nothing else', async () => {
  await using server = await startServer({
    flags: s3.flags('missing'),
    env: s3.env,
  })
  await rootQuery(server, { now: null })
  const { request_id: id } = await requestExport(server, server.rootSecret, { region_group: 'us-std' })
  assert.equal((await finished(server, server.rootSecret, id)).state, 'Failed')
  assert.match(server.stderr(), /NoSuchBucket/)
  assert.equal(await rootQuery(server, 1), 1)
})
