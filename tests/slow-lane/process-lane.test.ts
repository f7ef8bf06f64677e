// The slow lane over simulated processes: turns, deadlines, exits.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { duplexPair, PassThrough } from 'node:stream'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { Ticket } from '../../src/base/admission/ticket.ts'
import { receiveFrames, sendFrame } from '../../src/base/frames.ts'
import { limits } from '../../src/base/limits.ts'
import { RequestError } from '../../src/base/request-errors.ts'
import type { QueryResponse } from '../../src/engine/engine-contract.ts'
import { slowLaneLimits } from '../../src/engine/slow-lane/process-pool.ts'
import { assertAnswer, FakeProcess, laneOf, received } from './fake-lane.ts'

test('processes start on demand, and idle processes are reused', async () => {
  const { lane, run, started } = laneOf(2)
  assert.equal(started.length, 0)
  for (const body of ['one', 'two']) {
    const outcome = run('a', body)
    await assertAnswer(started[0], outcome, `${body}!`)
    await turn()
  }
  assert.equal(started.length, 1)
  await lane.close()
})

test('one process starts in advance, unless the service has stopped by then', async () => {
  const { lane, run, started, time } = laneOf(2)
  lane.keepReady()
  assert.equal(started.length, 0, 'the service itself starts first')
  time.advance(slowLaneLimits.laneReadyMs)
  assert.equal(started.length, 1)
  await turn()
  time.advance(slowLaneLimits.laneIdleMs)
  assert.equal(started[0]?.signalCode, null)
  await assertAnswer(started[0], run('a', 'one'), 'one!')
  assert.equal(started.length, 1)
  await lane.close()
  const stopped = laneOf(2)
  stopped.lane.keepReady()
  await stopped.lane.close()
  stopped.time.advance(slowLaneLimits.laneReadyMs)
  assert.equal(stopped.started.length, 0)
})

test('one database cannot use all processes', async () => {
  const { lane, run, started } = laneOf(2)
  const outcomes = [run('a', 'a1'), run('a', 'a2'), run('b', 'b1')]
  assert.deepEqual(await received(started[0], 1), ['a1'])
  assert.deepEqual(await received(started[1], 1), ['b1'])
  started[1]?.answer('')
  await outcomes[2]
  await turn()
  assert.equal(started[1]?.received.length, 1, 'a2 waits for a1')
  started[0]?.answer('')
  await outcomes[0]
  assert.deepEqual(await received(started[0], 2), ['a1', 'a2'])
  started[0]?.answer('')
  await outcomes[1]
  await lane.close()
})

test('a waiting query fails at its deadline, and a process that hangs is killed', async () => {
  const { deaths, lane, run, started, time } = laneOf(1)
  const stuck = run('a', 'stuck', 1000)
  const late = run('b', 'late', 500)
  await received(started[0], 1)
  time.advance(500)
  await assert.rejects(late, { code: 'time out' })
  time.advance(500)
  assert.equal(started[0]?.signalCode, null, 'the process has a moment to respond itself')
  time.advance(slowLaneLimits.laneGraceMs)
  await assert.rejects(stuck, { code: 'time out' })
  assert.equal(started[0]?.signalCode, 'SIGKILL')
  const next = run('a', 'next')
  await assertAnswer(started[1], next, 'fine')
  assert.deepEqual(deaths, [])
  await lane.close()
})

test('the deadline of a query does not kill a process that is still starting', async () => {
  const { lane, run, started, time } = laneOf(1, false)
  const early = run('a', 'early', 500)
  await turn()
  time.advance(1000)
  await assert.rejects(early, { code: 'time out' })
  assert.equal(started[0]?.signalCode, null)
  const next = run('a', 'next', 500)
  started[0]?.say({ kind: 'ready' })
  assert.deepEqual(await received(started[0], 1), ['next'])
  await assertAnswer(started[0], next, 'late, but there')
  assert.equal(started.length, 1)
  await lane.close()
})

test('a process that cannot start is restarted only after a pause', async () => {
  const { deaths, lane, run, started, time } = laneOf(1, false)
  const waiting = run('a', 'x', 5000)
  started[0]?.end(1, null)
  await turn()
  assert.equal(started.length, 1)
  time.advance(slowLaneLimits.laneRestartMs)
  assert.equal(started.length, 2)
  started[1]?.say({ kind: 'ready' })
  await assertAnswer(started[1], waiting, 'at last')
  assert.deepEqual(deaths, ['exit status 1'])
  await lane.close()
})

test('the start of a process is retried later when the system has no file descriptors', async () => {
  const { deaths, lane, run, started, time } = laneOf(1, false, () => {
    const failing = new FakeProcess()
    Object.assign(failing, { stdio: undefined, stderr: undefined })
    process.nextTick(() => failing.emit('error', new Error('spawn node EMFILE')))
    return failing
  })
  const waiting = run('a', 'x', 5000)
  await turn()
  assert.equal(started.length, 0)
  time.advance(slowLaneLimits.laneRestartMs)
  started[0]?.say({ kind: 'ready' })
  await assertAnswer(started[0], waiting, 'at last')
  assert.deepEqual(deaths, ['spawn node EMFILE'])
  await lane.close()
})

test('a process that runs out of memory fails only its own query', async () => {
  const { deaths, lane, run, started } = laneOf(2)
  const hungry = run('a', 'hungry')
  const other = run('b', 'other')
  await received(started[0], 1)
  started[0]?.stderr.write('FATAL ERROR: JavaScript heap out of memory\n')
  await turn()
  started[0]?.end(null, 'SIGABRT')
  await assert.rejects(hungry, (error: unknown) => {
    assert.ok(error instanceof RequestError)
    assert.equal(error.description, 'Query takes too much memory. Max: 512 MB.')
    return true
  })
  await assertAnswer(started[1], other, 'well')
  assert.deepEqual(deaths, ['out of memory'])
  await lane.close()
})

test('the count of memory kills of the system shows why a process was killed', async () => {
  const { deaths, lane, run, started, system } = laneOf(1)
  const unlucky = run('a', 'unlucky')
  await received(started[0], 1)
  started[0]?.end(null, 'SIGKILL')
  await assert.rejects(unlucky, { code: 'service unavailable' })
  const hungry = run('a', 'hungry')
  await received(started[1], 1)
  system.memoryKills++
  started[1]?.end(null, 'SIGKILL')
  await assert.rejects(hungry, { description: 'Query takes too much memory. Max: 512 MB.' })
  assert.deepEqual(deaths, ['SIGKILL', 'out of memory'])
  await lane.close()
})

test('memory kills before the start of a process do not explain its exit', async () => {
  const { deaths, lane, run, started, system, time } = laneOf(1, false)
  system.memoryKills = 3
  void run('a', 'x', 5000).catch(() => {})
  started[0]?.end(null, 'SIGKILL')
  await turn()
  time.advance(slowLaneLimits.laneRestartMs)
  started[1]?.end(null, 'SIGKILL')
  await turn()
  assert.deepEqual(deaths.slice(1), ['SIGKILL'])
  await lane.close()
})

test('log lines of a process that arrive in pieces are passed on as whole lines', async t => {
  const lines: unknown[] = []
  const { lane, run, started } = laneOf(1)
  const outcome = run('a', 'x')
  await received(started[0], 1)
  const { write } = process.stderr
  t.after(() => Object.assign(process.stderr, { write }))
  Object.assign(process.stderr, { write: (line: unknown) => lines.push(line) })
  for (const piece of ['{"level":', '50,"msg":"{one}"}\n{"level"', ':30}\nnot a log line\n']) {
    started[0]?.stderr.write(piece)
    await turn()
  }
  Object.assign(process.stderr, { write })
  assert.deepEqual(lines, ['{"level":50,"msg":"{one}"}\n', '{"level":30}\n'])
  started[0]?.answer('x')
  await outcome
  await lane.close()
})

test('an exit for an unknown reason is an internal error', async () => {
  const { deaths, lane, run, started } = laneOf(1)
  const outcome = run('a', 'x')
  await received(started[0], 1)
  started[0]?.end(1, null)
  await assert.rejects(outcome, (error: unknown) => !(error instanceof RequestError))
  assert.deepEqual(deaths, ['exit status 1'])
  await lane.close()
})

test('the numbers of waiting queries of one database and of all databases are limited', async () => {
  const { lane, run } = laneOf(1)
  const outcomes = Array.from({ length: slowLaneLimits.laneWaitingPerDatabaseMax + 1 }, () => run('a', 'x'))
  await assert.rejects(run('a', 'one too many'), { code: 'too many requests' })
  outcomes.push(run('b', 'of another'))
  const settled = Promise.allSettled(outcomes)
  await lane.close()
  for (const outcome of await settled) assert.equal(outcome.status, 'rejected')
  await assert.rejects(run('a', 'closed'), { code: 'time out' })
})

test('databases that use the whole queue do not keep the query of another database out', async () => {
  const { lane, run } = laneOf(1)
  const { laneWaitingMax, laneWaitingPerDatabaseMax } = slowLaneLimits
  const queues = Array.from({ length: laneWaitingMax / laneWaitingPerDatabaseMax }, (_, at) => `loud ${at}`)
  const loud = queues.flatMap(queue =>
    Array.from({ length: laneWaitingPerDatabaseMax }, () => run(queue, 'x')),
  )
  const rejected: number[] = []
  for (const [at, outcome] of loud.entries()) outcome.catch(() => rejected.push(at))
  const quiet = run('quiet', 'y')
  let isQuietRejected = false
  quiet.catch(() => {
    isQuietRejected = true
  })
  await turn()
  assert.deepEqual([rejected.length, isQuietRejected], [1, false])
  assert.equal(lane.load.waiting + lane.load.running, laneWaitingMax)
  await lane.close()
})

test('an address with a key for clients does not keep other callers of its database out', async () => {
  const { lane, run } = laneOf(1)
  const loud = Array.from({ length: slowLaneLimits.laneWaitingPerDatabaseMax }, () =>
    run('a', 'x', 1000, new Ticket('a client 192.0.2.1')),
  )
  const newest = assert.rejects(loud.at(-1) as Promise<unknown>, { code: 'too many requests' })
  const quiet = run('a', 'y', 1000, new Ticket('a'))
  await newest
  const settled = Promise.allSettled([...loud, quiet])
  await lane.close()
  const reasons = (await settled).map(each => (each as PromiseRejectedResult).reason.code)
  assert.equal(reasons.filter(code => code === 'too many requests').length, 1)
  assert.equal(reasons.at(-1), 'time out')
})

test('a waiting query that only reads is dropped when its client disconnects', async () => {
  const { lane, run } = laneOf(1)
  const [reading, writing] = [new Ticket('a'), new Ticket('a')]
  reading.endsWithClient = true
  const dropped = assert.rejects(run('a', 'x', 1000, reading), { code: 'request timeout' })
  const goesOn = assert.rejects(run('a', 'y', 1000, writing), { code: 'time out' })
  for (const ticket of [reading, writing]) ticket.noteDisconnect()
  await dropped
  assert.equal(lane.load.waiting, 1)
  await lane.close()
  await goesOn
})

test('processes that are idle for long are killed, except one that stays ready', async () => {
  const { deaths, lane, run, started, time } = laneOf(2)
  const outcomes = [run('a', 'x'), run('b', 'y')]
  for (const process of started) {
    await received(process, 1)
    process.answer('')
  }
  await Promise.all(outcomes)
  await turn()
  time.advance(slowLaneLimits.laneIdleMs)
  time.advance(slowLaneLimits.laneIdleMs)
  const [ready, ...others] = started.filter(({ signalCode }) => signalCode === null)
  assert.equal(others.length, 0)
  await turn()
  await assertAnswer(ready, run('a', 'z'), 'again')
  assert.equal(started.length, 2)
  assert.deepEqual(deaths, [])
  await lane.close()
})

test('ids are reserved by the service', async () => {
  const { lane, run, started } = laneOf(1)
  const outcome = run('a', 'x')
  await received(started[0], 1)
  started[0]?.say({ kind: 'ids requested', held: { worker: 3, startMs: 0, endMs: 1 } })
  await received(started[0], 2)
  assert.deepEqual(started[0]?.received[1]?.message, {
    kind: 'ids',
    range: { worker: 3, startMs: 0, endMs: 1 },
  })
  await assertAnswer(started[0], outcome, 'with ids')
  await lane.close()
})

test('long bodies arrive in pieces, short ones as text', async () => {
  const { lane, run, started } = laneOf(1)
  const outcome = run('a', 'x')
  await received(started[0], 1)
  const long = 'é'.repeat(limits.longBodyBytes)
  started[0]?.answer(long)
  const { body, longBody } = (await outcome) as QueryResponse
  assert.equal(body, '')
  assert.equal(Buffer.concat(longBody?.pieces ?? []).toString(), long)
  assert.equal(longBody?.length, 2 * limits.longBodyBytes)
  await lane.close()
})

test('frames arrive however they are cut', async () => {
  const [near, far] = duplexPair()
  const heads: unknown[] = []
  receiveFrames(far, ({ head, body }) => heads.push([head, Buffer.concat(body).toString()]))
  const sent = new PassThrough()
  for (const [head, body] of [
    ['a', ''],
    [{ b: 1n }, 'body'],
    ['c', 'x'],
  ] as const)
    sendFrame(
      sent,
      head,
      [...body].map(letter => Buffer.from(letter)),
    )
  const bytes = Buffer.concat(await sent.end().toArray())
  for (const byte of bytes) near.write(Uint8Array.of(byte))
  near.end()
  await once(far, 'end')
  assert.deepEqual(heads, [
    ['a', ''],
    [{ b: 1n }, 'body'],
    ['c', 'x'],
  ])
})
