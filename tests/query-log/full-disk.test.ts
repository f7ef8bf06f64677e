// A full disk when the service starts: the log begins when there is space, and the service does not wait for it.

import assert from 'node:assert/strict'
import fs, { existsSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Logger } from 'pino'
import { readConfig } from '../../src/app/config/read-config.ts'
import { openQueryLog } from '../../src/app/open-query-log.ts'
import { systemClock } from '../../src/base/clock.ts'
import { systemTimers } from '../../src/base/timers.ts'
import { livePath } from '../../src/query-log/segment-files.ts'
import { SegmentWriter } from '../../src/query-log/segment-writer.ts'
import { foldersOfFile } from '../support/folder.ts'

const newFolder = foldersOfFile()

test('a writer that starts on a full disk logs that once, and is announced to the others when there is space', async () => {
  const folder = newFolder()
  let isFull = true
  const losses: unknown[] = []
  const writer = new SegmentWriter({
    folder,
    regionGroup: 'us-std',
    writer: 'a1',
    clock: systemClock,
    timers: systemTimers,
    segmentBytes: 1000,
    segmentMs: 60_000,
    onFull: () => losses.push('full'),
    onLoss: records => losses.push(records),
    touch: path => {
      if (isFull) throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
      writeFileSync(path, '')
    },
  })
  await writer.flush()
  assert.deepEqual([losses, existsSync(livePath(folder, 'a1'))], [['full'], false])
  isFull = false
  await writer.flush()
  assert.deepEqual([losses, existsSync(livePath(folder, 'a1'))], [['full'], true])
  await writer.close()
})

const wanted = { from: 0, to: 1, database: undefined, requester: 'account' } as never

/** While `isFull()`, the disk of query logs has no space. */
function withFullDisk(isFull: () => boolean): Disposable {
  const { mkdirSync, statfsSync } = fs
  const isThere = (path: unknown) => isFull() && String(path).includes('query-log')
  fs.mkdirSync = ((path: string, ...rest: []) => {
    if (isThere(path)) throw Object.assign(new Error('no space left on device, mkdir'), { code: 'ENOSPC' })
    return mkdirSync(path, ...rest)
  }) as typeof mkdirSync
  fs.statfsSync = ((path: string) => {
    const found = statfsSync(path)
    return isThere(path) ? Object.assign(found, { bavail: 0 }) : found
  }) as typeof statfsSync
  syncBuiltinESMExports()
  return {
    [Symbol.dispose]() {
      Object.assign(fs, { mkdirSync, statfsSync })
      syncBuiltinESMExports()
    },
  }
}

test('a log whose disk is full at the first start opens with a warning, and accepts requests when there is space', async () => {
  const data = newFolder()
  let isFull = true
  using _ = withFullDisk(() => isFull)
  const warnings: string[] = []
  const log = { warn: (_: unknown, text: string) => warnings.push(text), error: () => undefined }
  const config = readConfig(new Map(), { TERRARIUM_DATA: data })
  const queryLog = await openQueryLog(config, log as unknown as Logger, () => undefined)
  const text = 'the disk of the query log is full: no requests are recorded until it has room'
  assert.deepEqual(warnings, [text])
  assert.ok(!existsSync(join(data, 'query-log')))
  await queryLog.waitUntilCurrent()
  assert.equal(queryLog.expiryOf('a', '/b?expires=1&signature=c'), undefined)
  await assert.rejects(queryLog.requestExport(wanted, undefined), { code: 'service unavailable' })
  assert.throws(() => queryLog.find('1'), { code: 'service unavailable' })
  isFull = false
  const { id } = await queryLog.requestExport(wanted, undefined)
  assert.equal(queryLog.find(id)?.id, id)
  await queryLog.close()
  assert.ok(existsSync(join(data, 'query-log', 'records')))
  assert.deepEqual(warnings, [text])
})
