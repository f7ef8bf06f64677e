// The slow lane replaces processes that still have too little free memory after a query.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { assertAnswer, bodyOf, laneOf, received } from './fake-lane.ts'

/** A lane of one process, whose memory the database `a` has used up, and whose replacement is not ready yet. */
async function spentLane() {
  const played = laneOf(1, false)
  const first = played.run('a', 'one')
  const [old] = played.started
  old?.say({ kind: 'ready' })
  await received(old, 1)
  old?.say({ kind: 'exhausted', ranOutOfMemory: true })
  await assertAnswer(old, first, 'rejected')
  await turn()
  const replacement = played.started[1]
  assert.ok(old && replacement && played.started.length === 2)
  return { ...played, old, replacement }
}

test('a process without free memory serves other databases until its replacement is ready', async () => {
  const { deaths, lane, run, old, replacement } = await spentLane()
  const again = run('a', 'two')
  const other = run('b', 'other')
  assert.deepEqual(await received(old, 2), ['one', 'other'])
  replacement.say({ kind: 'ready' })
  assert.deepEqual(await received(replacement, 1), ['two'])
  await assertAnswer(replacement, again, 'two!')
  assert.equal(old.signalCode, null)
  old.say({ kind: 'exhausted', ranOutOfMemory: false })
  await assertAnswer(old, other, 'other!')
  await turn()
  assert.deepEqual([old.signalCode, old.received.length, deaths], ['SIGKILL', 2, []])
  await lane.close()
})

test('an idle process without free memory is killed when its replacement is ready', async () => {
  const { lane, run, old, replacement } = await spentLane()
  replacement.say({ kind: 'ready' })
  const other = run('b', 'other')
  await Promise.race([received(replacement, 1), received(old, 2)])
  for (const process of [old, replacement]) process.answer('other!')
  assert.equal(bodyOf(await other), 'other!')
  await turn()
  assert.deepEqual([old.signalCode, replacement.signalCode], ['SIGKILL', null])
  await lane.close()
})

for (const how of ['is rejected', 'ends the process']) {
  test(`a query of another database that ${how} for lack of memory runs in the replacement`, async () => {
    const { lane, run, old, replacement } = await spentLane()
    const other = run('b', 'other')
    await received(old, 2)
    if (how === 'is rejected') {
      old.say({ kind: 'exhausted', ranOutOfMemory: true })
      old.answer('rejected')
    } else {
      old.stderr.write('FATAL ERROR: JavaScript heap out of memory')
      await turn()
      old.end(null, 'SIGABRT')
    }
    await turn()
    replacement.say({ kind: 'ready' })
    assert.deepEqual(await received(replacement, 1), ['other'])
    await assertAnswer(replacement, other, 'other!')
    await lane.close()
  })
}

test('the database that used up a process waits for its replacement, and then leaves one started process to others', async () => {
  const { lane, run, started } = laneOf(2, false)
  const waiting = [run('a', 'one')]
  started[0]?.say({ kind: 'ready' })
  await received(started[0], 1)
  started[0]?.say({ kind: 'exhausted', ranOutOfMemory: true })
  started[0]?.answer('rejected')
  await waiting[0]
  await turn()
  // The replacement is being started, without any query that waits for it.
  assert.equal(started.length, 2)
  const again = run('a', 'two')
  const served = run('c', 'by the old one')
  await received(started[0], 2)
  const other = run('b', 'other')
  assert.equal(started.length, 3)
  started[2]?.say({ kind: 'ready' })
  await assertAnswer(started[2], other, 'other!')
  await turn()
  assert.deepEqual([started[1]?.received.length, started[2]?.received.length], [0, 1])
  started[1]?.say({ kind: 'ready' })
  await Promise.race([received(started[1], 1), received(started[2], 2)])
  for (const process of started.slice(1)) process.answer('two!')
  assert.equal(bodyOf(await again), 'two!')
  await assertAnswer(started[0], served, 'served!')
  await lane.close()
})

test('a process that crashed for lack of memory is replaced at once, too', async () => {
  const { lane, run, started } = laneOf(1)
  const failed = run('a', 'one')
  await received(started[0], 1)
  started[0]?.stderr.write('FATAL ERROR: JavaScript heap out of memory')
  await turn()
  started[0]?.end(null, 'SIGABRT')
  await assert.rejects(failed, /too much memory/)
  await turn()
  assert.equal(started.length, 2)
  await lane.close()
})

test('a query that crashed the only process delays other databases by a single start', async () => {
  const { lane, run, started } = laneOf(2, false)
  const failed = run('a', 'one')
  started[0]?.say({ kind: 'ready' })
  await received(started[0], 1)
  started[0]?.stderr.write('FATAL ERROR: JavaScript heap out of memory')
  await turn()
  started[0]?.end(null, 'SIGABRT')
  await assert.rejects(failed, /too much memory/)
  const again = run('a', 'two')
  const other = run('b', 'other')
  started[1]?.say({ kind: 'ready' })
  assert.deepEqual(await received(started[1], 1), ['other'])
  await assertAnswer(started[1], other, 'other!')
  await turn()
  // The next query of `a` waits until a second process is ready, so that it cannot crash the only process.
  assert.equal(started[1]?.received.length, 1)
  started[2]?.say({ kind: 'ready' })
  await Promise.race([received(started[1], 2), received(started[2], 1)])
  for (const process of started.slice(1)) process.answer('two!')
  assert.equal(bodyOf(await again), 'two!')
  await lane.close()
})
