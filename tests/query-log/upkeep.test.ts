// Expired exports: the file is deleted with the request, even when its storage fails at first.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemRandom } from '../../src/base/random.ts'
import { RemovalTime } from '../../src/base/removal-time.ts'
import { version4 } from '../../src/fql4/language.ts'
import { Downloads, fileName, LocalFiles } from '../../src/query-log/export-storage.ts'
import { ExportStore } from '../../src/query-log/export-store.ts'
import { QueryLog } from '../../src/query-log/query-log.ts'
import { RecordWriter } from '../../src/query-log/record-writer.ts'
import { SegmentWriter } from '../../src/query-log/segment-writer.ts'
import { Signer } from '../../src/query-log/signing.ts'
import { openMemory } from '../../src/storage/kv/memory.ts'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { ManualTime, startMs, wantedExport } from './manual-time.ts'

const upkeepMs = 60_000
const dayMs = 86_400_000

const folder = folderOfFile()

test('a file whose deletion has failed is deleted later', async () => {
  const time = new ManualTime()
  const { now } = time
  const kv = openMemory()
  const signer = new Signer(async () => systemRandom.bytes(32))
  const removed: string[] = []
  const failures: unknown[] = []
  let isDown = true
  const writer = new SegmentWriter({
    folder,
    regionGroup: 'us-std',
    writer: 'a0',
    clock: time,
    timers: time,
    segmentBytes: 1_000_000,
    segmentMs: dayMs,
    onLoss: (_, cause) => failures.push(cause),
  })
  const log = new QueryLog({
    folder,
    regionGroup: 'us-std',
    records: new RecordWriter(writer, { '4': version4 }),
    writer,
    kv,
    store: new ExportStore(kv, systemRandom, now),
    signer,
    downloads: new Downloads(new LocalFiles(folder, systemRandom), signer),
    storage: {
      store: () => assert.fail('there is nothing to store'),
      exists: async () => false,
      address: async () => '/',
      async remove(name) {
        if (isDown) throw new Error('the bucket cannot be reached')
        removed.push(name)
      },
    },
    owner: 'a0',
    random: systemRandom,
    now,
    removalTime: new RemovalTime({
      clock: time,
      load: () => undefined,
      save: async () => {},
      onLeap: () => assert.fail(),
    }),
    timers: time,
    retention: { days: 90, bytes: 1_000_000 },
    exportDays: upkeepMs / dayMs,
    exportTimeoutMs: 60_000,
    urlSeconds: 60,
    recorders: 1,
    elapsedMs: () => 0,
    onFailure: (_, cause) => failures.push(cause),
  })
  const { id } = await log.requestExport({ ...wantedExport, to: startMs }, undefined)
  // The clock runs about as fast as the disk: an export that waits for the disk does not reach its time limit.
  await eventually('the export has ended', () => {
    time.advance(20)
    return log.find(id)?.state === 'DoesNotExist'
  })
  const upkeepUntil = (what: string, condition: () => boolean) =>
    eventually(what, () => {
      if (!condition()) time.advance(upkeepMs)
      return condition()
    })
  await upkeepUntil('the upkeep has failed', () => failures.length > 0)
  assert.ok(log.find(id))
  isDown = false
  await upkeepUntil('the request is deleted', () => log.find(id) === undefined)
  assert.deepEqual(removed, [fileName(id)])
  await log.close()
})
