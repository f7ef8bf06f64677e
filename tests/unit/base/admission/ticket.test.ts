// The ticket of a request: the request is evicted only while it waits, and stops when its client disconnects.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryBudget } from '../../../../src/base/admission/memory-budget.ts'
import { Ticket } from '../../../../src/base/admission/ticket.ts'

const rejection = new Error('no room')
const budgetOf = (max: number) => new MemoryBudget({ max, rejection: () => rejection })
const never = () => new Promise<void>(() => undefined)

test('a waiting request of the largest owner is evicted, with the error of the budget', async () => {
  const budget = budgetOf(10)
  const [large, running, small] = ['a', 'a', 'b'].map(owner => new Ticket(owner)) as [Ticket, Ticket, Ticket]
  large.hold(budget, 4)
  running.hold(budget, 4)
  const waits = large.wait(never())
  small.hold(budget, 4)
  await assert.rejects(waits, rejection)
  assert.equal(budget.held, 8)
})

test('a request counts for its newest owner in all budgets', async () => {
  const [memory, running] = [budgetOf(10), new MemoryBudget({ max: 1 })]
  const ticket = new Ticket('address')
  const end = ticket.count(running)
  ticket.hold(memory, 6)
  const waits = ticket.wait(never())
  ticket.regroup('database 1')
  assert.ok(running.admits('address', 1))
  assert.ok(!running.admits('database 1', 1))
  new Ticket('address').hold(memory, 5)
  await assert.rejects(waits, rejection)
  end()
  assert.ok(running.admits('database 1', 1))
})

test('when the client disconnects, only requests that end with their client stop', async () => {
  const [reading, writing] = [new Ticket('a'), new Ticket('a')]
  reading.endsWithClient = true
  const waits = reading.wait(never())
  const written = Promise.withResolvers<string>()
  const goesOn = writing.wait(written.promise)
  for (const ticket of [reading, writing]) ticket.noteDisconnect()
  await assert.rejects(waits, { code: 'request timeout' })
  await assert.rejects(reading.wait(never()), { code: 'request timeout' }, 'a later wait stops at once')
  written.resolve('written')
  assert.equal(await goesOn, 'written')
})

test('work in steps stops before its next step', async () => {
  const budget = budgetOf(10)
  const [evicted, left] = [new Ticket('a'), new Ticket('a')]
  evicted.hold(budget, 6)
  const steps = (ticket: Ticket, event: () => void) =>
    ticket.inSteps(async () => {
      ticket.throwIfStopped()
      event()
      ticket.throwIfStopped()
    })
  await assert.rejects(
    steps(evicted, () => new Ticket('b').hold(budget, 5)),
    rejection,
  )
  await assert.rejects(
    steps(left, () => left.noteDisconnect()),
    { code: 'request timeout' },
  )
})
