// Warnings before the disk of the data directory is full.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Timers } from '../../../src/base/timers.ts'
import { type DiskSpace, diskSpace, watchDisk } from '../../../src/server/operation/disk-watch.ts'

const gigabyte = 1024 ** 3

/** Returns the messages of a watch that sees these sizes one after the other. */
function messagesOf(sizes: readonly DiskSpace[]): string[] {
  const messages: string[] = []
  const add = (level: string) => (object: unknown) => {
    messages.push(`${level} ${(object as { free_megabytes: number }).free_megabytes}`)
  }
  const [left, checks] = [[...sizes], [] as (() => void)[]]
  const every: Timers['every'] = (_, check) => {
    checks.push(check)
    return () => undefined
  }
  const timers = { every } as Timers
  const log = { info: add('info'), warn: add('warn') } as unknown as Parameters<typeof watchDisk>[1]
  watchDisk(() => left.shift() as DiskSpace, log, timers)
  while (left.length > 0) for (const check of checks) check()
  return messages
}

test('a warning is logged below a tenth of the disk, when the free space halves, and after it grew again', () => {
  const of20 = (free: number) => ({ free: free * gigabyte, total: 20 * gigabyte })
  assert.deepEqual(messagesOf([3, 1.5, 1.4, 0.75, 0.5, 0.25, 5, 1].map(of20)), [
    'warn 1536',
    'warn 768',
    'warn 256',
    'info 5120',
    'warn 1024',
  ])
})

test('a large disk has a limit of ten gigabytes, and a disk of unknown size has none', () => {
  const of4000 = (free: number) => ({ free: free * gigabyte, total: 4000 * gigabyte })
  assert.deepEqual(messagesOf([100, 10, 9].map(of4000)), ['warn 9216'])
  assert.deepEqual(messagesOf([{ free: 0, total: 0 }]), [])
})

test('the space of a disk that cannot be read is unknown', () => {
  assert.ok(diskSpace('.').total > 0)
  assert.deepEqual(diskSpace('no such folder'), { free: 0, total: 0 })
})
