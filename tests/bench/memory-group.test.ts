// The control groups of the benchmark limit the processes that are started in them.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { createMemoryGroup, type MemoryGroup, readAheadFile } from '../../bench/memory-group.ts'

test('a process in a control group has its limit, and the group can be removed after it', async t => {
  let group: MemoryGroup
  try {
    group = createMemoryGroup()
  } catch (error) {
    t.skip((error as Error).message)
    return
  }
  try {
    group.limit(64 * 2 ** 20)
    const child = spawn('sh', ['-c', `echo $$ > '${group.folder}/cgroup.procs' && cat /proc/self/cgroup`])
    const [groups] = await Promise.all([text(child.stdout), once(child, 'close')])
    assert.ok(groups.includes(`/${basename(group.folder)}\n`), groups)
    const limits = ['memory.limit_in_bytes', 'memory.max'].map(name => join(group.folder, name))
    const limit = limits.find(file => existsSync(file))
    assert.ok(limit)
    assert.equal(Number(readFileSync(limit, 'utf8')), 64 * 2 ** 20)
  } finally {
    group.remove()
  }
  assert.equal(existsSync(group.folder), false)
})

test('the read-ahead of a disk is a number of KiB, and file systems without a disk have none', t => {
  const file = readAheadFile(import.meta.dirname)
  if (existsSync('/proc/self')) assert.equal(readAheadFile('/proc/self'), undefined)
  if (file === undefined) t.skip('the repository is on no disk')
  else assert.match(readFileSync(file, 'utf8'), /^\d+\n$/)
})
