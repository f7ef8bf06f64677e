// Connections that bring much are parsed some at a time, those that bring little do not wait for them, and nothing of what
// is held back meanwhile is lost.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { systemClock } from '../../src/base/clock.ts'
import { systemTimers } from '../../src/base/timers.ts'
import { FairBudget } from '../../src/http/fair-budget.ts'
import { Intake } from '../../src/http/intake.ts'
import { Listener } from '../../src/http/listener.ts'
import { bodyText, readBody } from '../../src/http/request-body.ts'
import { limits } from '../../src/limits.ts'
import { connectRaw } from './raw-connection.ts'

test('what a turn has room for passes at once, the rest in its order, and what is short beside it', async () => {
  const intake = new Intake()
  const passed: string[] = []
  const admit = (name: string, bytes: number) => intake.admit(bytes, () => passed.push(name))
  for (const name of ['a', 'b', 'c']) admit(name, limits.intakeBytesPerTurn)
  admit('short', 100)
  assert.deepEqual(passed, ['a', 'short'])
  await setImmediate()
  assert.deepEqual(passed, ['a', 'short', 'b'])
  await setImmediate()
  assert.deepEqual(passed, ['a', 'short', 'b', 'c'])
  admit('d', limits.intakeBytesPerTurn)
  assert.equal(passed.length, 4)
  await setImmediate()
  assert.equal(passed.at(-1), 'd')
})

test('of very many short ones, some pass in each turn', async () => {
  const intake = new Intake()
  let passed = 0
  for (let at = 0; at < 1000; at++) intake.admit(0, () => passed++)
  const perTurn = limits.intakeBytesPerTurn / limits.intakeBytesMin
  for (let turn = 1; passed < 1000; turn++) {
    assert.equal(passed, turn * perTurn)
    await setImmediate()
    if ((turn + 1) * perTurn > 1000) break
  }
  await setImmediate()
  assert.equal(passed, 1000)
})

test('thousands of requests that are sent ahead are all responded to, with their bodies, in their order', async () => {
  const budget = new FairBudget({ max: 100_000_000 }, { clock: systemClock, timers: systemTimers })
  const listener = new Listener(exchange => {
    readBody(exchange, { bytesMax: 100_000 }, budget, outcome => {
      const text = typeof outcome === 'string' ? outcome : (bodyText(exchange, outcome) ?? '')
      const answer = `${text.length} ${text.slice(0, 8)};`
      exchange.respond(200, ['content-length', answer.length], answer, answer.length)
    })
  })
  const port = await listener.listen({ host: '127.0.0.1', port: 0 })
  // Bodies of lengths that put the pieces in which they are read everywhere.
  const bodies = Array.from({ length: 3000 }, (_, at) => `${at} `.padEnd(1 + ((at * 7919) % 700), 'x'))
  const request = (body: string) => `POST / HTTP/1.1\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const last = 'last'
  const connection = await connectRaw(port, [...bodies, last].map(request).join(''))
  const received = await connection.until('4 last;')
  const answers = received.match(/\d+ [^;\r\n]*;/g)
  assert.deepEqual(
    answers,
    [...bodies, last].map(body => `${body.length} ${body.slice(0, 8)};`),
  )
  connection.socket.destroy()
  await listener.close(1000)
})

/** A listener that responds to nothing, and the exchanges that it has begun. */
async function silentListener() {
  const begun: unknown[] = []
  const listener = new Listener(exchange => begun.push(exchange))
  return { begun, listener, port: await listener.listen({ host: '127.0.0.1', port: 0 }) }
}

const shortRequest = 'GET / HTTP/1.1\r\n\r\n'

test('a connection that closes with many requests under way costs no stack traces', async () => {
  const { begun, listener, port } = await silentListener()
  const { prepareStackTrace, stackTraceLimit } = Error
  const connection = await connectRaw(port, shortRequest.repeat(limits.requestsWaitingMax))
  while (begun.length < limits.requestsPerTurn) await setImmediate()
  let longest = 0
  let resets = 0
  Error.prepareStackTrace = (error, frames) => {
    if (error.message === 'aborted') {
      resets++
      longest = Math.max(longest, frames.length)
    }
    return String(error)
  }
  try {
    connection.socket.resetAndDestroy()
    while (resets === 0) await setImmediate()
    await setImmediate()
  } finally {
    Error.prepareStackTrace = prepareStackTrace
  }
  assert.equal(longest, 0)
  assert.equal(Error.stackTraceLimit, stackTraceLimit)
  await listener.close(0)
})
