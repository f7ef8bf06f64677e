// Query logs of machines that share a store: a request for records gets those of every machine that has started to
// serve.

import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pino } from 'pino'
import { readConfig } from '../../src/app/config/read-config.ts'
import { openQueryLog } from '../../src/app/open-query-log.ts'
import { systemClock } from '../../src/base/clock.ts'
import { micros } from '../../src/base/micros.ts'
import { systemTimers } from '../../src/base/timers.ts'
import type { FileTable } from '../../src/query-log/export-storage.ts'
import { SegmentUploader } from '../../src/query-log/segment-exchange.ts'
import { segmentPath } from '../../src/query-log/segment-files.ts'
import type { SharedLog } from '../../src/query-log/shared-log.ts'
import { openMemory } from '../../src/storage/kv/memory.ts'
import type { Chunk } from '../../src/storage/postgres/log-chunks.ts'
import { folderOfFile } from '../support/folder.ts'
import { plainRequest, recorded } from './records.ts'

const folder = folderOfFile()

/** The shared store, in memory. */
class SharedTables {
  readonly #chunks: { readonly chunk: Chunk; readonly body: Uint8Array | undefined }[] = []
  readonly #reported = new Map<string, number>()
  #requestedTime = 0
  /** Called when a machine that waits for all others has written its own records. */
  onReported: (machine: string) => void = () => undefined

  /** The share of one machine; its chunks are delivered once `mayUpload` resolves. */
  of(machine: string, mayUpload: Promise<void>): SharedLog {
    const isOf = (chunk: Chunk) => (other: Chunk) =>
      other.writer === chunk.writer && other.position === chunk.position
    return {
      kv: openMemory(),
      waitUntilCurrent: async () => undefined,
      now: systemClock.now,
      files: {} as FileTable,
      uploads: true,
      mayWork: () => false,
      chunks: {
        uploadedBytes: async () => {
          await mayUpload
          return new Map()
        },
        add: async (chunk, body) => void this.#chunks.push({ chunk, body }),
        between: async () => this.#chunks.map(({ chunk }) => chunk),
        oldest: async () => this.#chunks[0]?.chunk.start,
        body: async chunk => this.#chunks.find(stored => isOf(chunk)(stored.chunk))?.body,
        old: async () => [],
        remove: async () => undefined,
        request: async time => {
          this.#requestedTime = Math.max(this.#requestedTime, time)
        },
        requestedTime: async () => micros(this.#requestedTime),
        report: async until =>
          void this.#reported.set(machine, Math.max(until, this.#reported.get(machine) ?? 0)),
        reportedByAll: async () => {
          const oldest = Math.min(...this.#reported.values())
          if ((this.#reported.get(machine) ?? 0) >= this.#requestedTime) this.onReported(machine)
          return micros(oldest)
        },
        retire: async () => void this.#reported.delete(machine),
      },
    }
  }
}

test('a request waits for a machine that has not written its records yet', async () => {
  const tables = new SharedTables()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const open = (name: string, mayUpload: Promise<void>) =>
    openQueryLog(
      readConfig(new Map([['data', { value: join(folder, name), where: '--data' }]]), {}),
      pino({ enabled: false }),
      () => undefined,
      tables.of(name, mayUpload),
    )
  const slow = await open('slow', released)
  const other = await open('other', Promise.resolve())
  try {
    slow.record(...recorded({ ...plainRequest, tags: [['mark', 'slow']] }))
    const span = { from: 0, to: Date.now() + 60_000, regionGroup: other.regionGroup }
    tables.onReported = () => release()
    const records = other.summary(span, new AbortController().signal)
    assert.equal((await records).totals.requests, 1)
  } finally {
    release()
    await Promise.all([slow.close(), other.close()])
  }
})

test('records of a segment that cannot be read are not reported as uploaded', async () => {
  const segments = join(folder, 'unreadable')
  const path = segmentPath(segments, micros(1), 'a1')
  mkdirSync(segments)
  symlinkSync(path, path)
  const reported: number[] = []
  const shared = new SharedTables().of('unreadable', Promise.resolve())
  const { promise: failed, resolve: onFailure } = Promise.withResolvers<unknown>()
  const uploader = new SegmentUploader({
    folder: segments,
    shared: { ...shared, chunks: { ...shared.chunks, report: async until => void reported.push(until) } },
    timers: systemTimers,
    onFailure,
  })
  assert.equal(((await failed) as NodeJS.ErrnoException).code, 'ELOOP')
  await uploader.close()
  assert.deepEqual(reported, [])
})
