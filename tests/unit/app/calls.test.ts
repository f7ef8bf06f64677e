// Calls between two processes, over sockets within this process.

import assert from 'node:assert/strict'
import { type Duplex, duplexPair } from 'node:stream'
import { test } from 'node:test'
import { Callee, Caller, ConnectionLost, type Payload } from '../../../src/app/calls.ts'

interface Pair {
  readonly caller: Caller
  readonly callee: Callee
  readonly sockets: readonly [Duplex, Duplex]
}

function pairOf(handle: (call: Payload) => Promise<Payload>): Pair {
  const [near, far] = duplexPair()
  return { caller: new Caller(near), callee: new Callee(far, handle), sockets: [near, far] }
}

/** Unlike a socket, an end of a pair does not close the other one. */
function cut({ sockets }: Pair): void {
  for (const socket of sockets) socket.destroy()
}

const echo = async (call: Payload): Promise<Payload> => call

test('each call gets its own result, whatever their order', async () => {
  const gates = new Map<unknown, PromiseWithResolvers<void>>()
  const { caller } = pairOf(async ({ value }) => {
    const gate = Promise.withResolvers<void>()
    gates.set(value, gate)
    await gate.promise
    return { value: `result of ${value}` }
  })
  const calls = ['one', 'two'].map(value => caller.call({ value }))
  while (gates.size < 2) await turn()
  gates.get('two')?.resolve()
  assert.equal((await calls[1])?.value, 'result of two')
  gates.get('one')?.resolve()
  assert.equal((await calls[0])?.value, 'result of one')
})

test('calls of one turn share a frame, and so do their results', async () => {
  const { caller, sockets } = pairOf(echo)
  const chunks = [0, 0]
  for (const [at, socket] of sockets.entries())
    socket.on('data', () => {
      chunks[at] = (chunks[at] as number) + 1
    })
  await Promise.all(Array.from({ length: 50 }, (_, value) => caller.call({ value })))
  assert.deepEqual(chunks, [1, 1])
})

test('long bytes arrive complete, beside short calls', async () => {
  const { caller } = pairOf(echo)
  const long = Array.from({ length: 3 }, (_, at) => new Uint8Array(100_000).fill(at))
  const [short, large] = await Promise.all([
    caller.call({ value: 'short' }),
    caller.call({ value: 'large', pieces: long }),
  ])
  assert.equal(short.value, 'short')
  assert.deepEqual(Buffer.concat(large.pieces ?? []), Buffer.concat(long))
})

test('a failure of the handler rejects its call only', async () => {
  const { caller } = pairOf(async call => {
    if (call.value === 'bad') throw new Error('a bug')
    return call
  })
  const bad = caller.call({ value: 'bad' })
  const good = caller.call({ value: 'good' })
  await assert.rejects(bad, { message: 'a bug' })
  assert.equal((await good).value, 'good')
})

test('when the connection closes, pending calls may have had an effect, and later ones have none', async () => {
  const pair = pairOf(() => new Promise(() => undefined))
  const pending = pair.caller.call({ value: 1 })
  await turn()
  cut(pair)
  await assert.rejects(pending, error => error instanceof ConnectionLost && error.wasSent)
  await assert.rejects(
    pair.caller.call({ value: 2 }),
    error => error instanceof ConnectionLost && !error.wasSent,
  )
  await pair.callee.closed
})

test('the handler learns that its call was cancelled, or that the connection has closed', async () => {
  const cancelled: string[] = []
  const gate = Promise.withResolvers<void>()
  const [near, far] = duplexPair()
  const caller = new Caller(near)
  const callee = new Callee(far, async ({ value }, onCancel) => {
    onCancel(reason => cancelled.push(`${value} ${reason}`))
    await gate.promise
    return { value: 'result' }
  })
  const cancels: ((reason: string) => void)[] = []
  const results = [1, 2].map(value => caller.call({ value }, cancel => cancels.push(cancel)))
  cancels[0]?.('evicted')
  while (cancelled.length === 0) await turn()
  far.destroy()
  await callee.closed
  assert.deepEqual(cancelled, ['1 evicted', '1 connection closed', '2 connection closed'])
  gate.resolve()
  near.destroy()
  for (const result of results) await assert.rejects(result, ConnectionLost)
})

test('a call that was cancelled gets its result', async () => {
  const [near, far] = duplexPair()
  const caller = new Caller(near)
  new Callee(far, (_call, onCancel) => {
    const { promise, resolve } = Promise.withResolvers<Payload>()
    onCancel(reason => resolve({ value: reason }))
    return promise
  })
  let cancel: ((reason: string) => void) | undefined
  const result = caller.call({ value: 1 }, given => {
    cancel = given
  })
  cancel?.('disconnected')
  assert.equal((await result).value, 'disconnected')
})

test('notifications reach callers with listeners', async () => {
  const { callee, caller } = pairOf(echo)
  let heard = 0
  const stop = caller.watch(() => {
    heard++
  })
  await turn()
  callee.notify()
  while (heard === 0) await turn()
  stop()
  callee.notify()
  await turn()
  assert.equal(heard, 1)
})

test('closing waits for pending calls', async () => {
  const gate = Promise.withResolvers<void>()
  const { caller, sockets } = pairOf(async call => {
    await gate.promise
    return call
  })
  const pending = caller.call({ value: 'last' })
  const closed = caller.close()
  await turn()
  assert.ok(!sockets[0].writableEnded)
  gate.resolve()
  assert.equal((await pending).value, 'last')
  await closed
  assert.ok(sockets[0].writableEnded)
})

function turn(): Promise<void> {
  return new Promise(resolve => {
    setImmediate(resolve)
  })
}
