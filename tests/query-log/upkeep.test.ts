// Expired exports: the file is deleted with the request, even when its storage fails at first.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemRandom } from '../../src/base/random.ts'
import { RemovalTime } from '../../src/base/removal-time.ts'
import { version4 } from '../../src/fql4/language.ts'
import { Downloads, fileName, LocalFiles } from '../../src/query-log/export-storage.ts'
import { ExportStore } from '../../src/query-log/export-store.ts'
import { QueryLog } from '../../src/query-log/query-log.ts'
import { RecordFormat } from '../../src/query-log/record.ts'
import { SegmentWriter } from '../../src/query-log/segment-writer.ts'
import { Signer } from '../../src/query-log/signing.ts'
import { openMemory } from '../../src/storage/kv/memory.ts'
import { folderOfFile } from '../support/folder.ts'
import { ManualTime, startMs, until } from './manual-time.ts'

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
  const log = new QueryLog({
    folder,
    regionGroup: 'us-std',
    format: new RecordFormat('us-std', { '4': version4 }),
    writer: new SegmentWriter({
      folder,
      writer: 'a0',
      clock: time,
      timers: time,
      segmentBytes: 1_000_000,
      segmentMs: dayMs,
      onLoss: (_, cause) => failures.push(cause),
    }),
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
  const { id } = await log.requestExport(
    {
      timeStart: '2026-03-04T00:00:00Z',
      timeEnd: '2026-03-05T00:00:00Z',
      from: startMs - 1000,
      to: startMs,
      regionGroup: 'us-std',
    },
    undefined,
  )
  await until(() => {
    time.advance(20)
    return log.find(id)?.state === 'DoesNotExist'
  }, 'the end of the export')
  const upkeepUntil = (condition: () => boolean, what: string) =>
    until(() => {
      if (!condition()) time.advance(upkeepMs)
      return condition()
    }, what)
  await upkeepUntil(() => failures.length > 0, 'the failure of the upkeep')
  assert.ok(log.find(id))
  isDown = false
  await upkeepUntil(() => log.find(id) === undefined, 'the end of the request')
  assert.deepEqual(removed, [fileName(id)])
  await log.close()
})
