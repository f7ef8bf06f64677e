// How long work may hold the process: by its own CPU time and its waits for the disk. How long the code of one item may
// take.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { CpuBudget, TimeBudget, timeBudgetLimits } from '../../../../src/base/admission/time-budget.ts'
import { starvedMs } from '../../../../src/base/clock.ts'
import { step, stepsPerCheck } from '../../../../src/base/effort.ts'
import { epoch } from '../../../../src/base/micros.ts'

function budgetOf(ms: number) {
  const time = { elapsedMs: 1000, starvedMs: 500 }
  const crowded = new Set<string>()
  const clock = { now: () => epoch, elapsedMs: () => time.elapsedMs }
  const budget = new TimeBudget({
    ms,
    clock,
    starvedMs: () => time.starvedMs,
    isCrowded: owner => crowded.has(owner),
  })
  return {
    budget,
    crowded,
    /** Works, or waits for the disk. */
    work(ms: number) {
      time.elapsedMs += ms
      step(stepsPerCheck)
    },
    /** Has the runtime collect garbage. */
    collect(ms: number) {
      time.elapsedMs += ms
    },
    /** Waits for a processor. */
    starve(ms: number) {
      time.elapsedMs += ms
      time.starvedMs += ms
    },
  }
}

test('time in which other programs use the processor does not count', () => {
  const { budget, starve, work } = budgetOf(20)
  const piece = budget.begin('a')
  work(10)
  starve(10_000)
  assert.equal(piece.isOver(), false)
  work(9)
  starve(5)
  assert.equal(piece.isOver(), false)
  work(1)
  assert.equal(piece.isOver(), true)
})

test('work of few steps is short, unless the limit is zero', () => {
  const { budget, collect, work } = budgetOf(20)
  const piece = budget.begin('a')
  step(100)
  collect(10_000)
  assert.equal(piece.isOver(), false)
  work(0)
  assert.equal(piece.isOver(), true)
  assert.equal(budgetOf(0).budget.begin('a').isOver(), true)
})

test('work that is moved to another owner keeps its start', () => {
  const { budget, work } = budgetOf(20)
  const piece = budget.begin('a')
  work(15)
  piece.countFor('b')
  assert.equal(piece.isOver(), false)
  work(5)
  assert.equal(piece.isOver(), true)
  for (let held = 0; held <= timeBudgetLimits.blockingMsFree; held += 20) piece.end()
  const [one, other] = [budget.begin('a'), budget.begin('b')]
  work(timeBudgetLimits.impatientMs)
  assert.deepEqual([one.isOver(), other.isOver()], [false, true])
})

test('such time does not count against the owner, either', () => {
  const { budget, starve, work } = budgetOf(20)
  const piece = budget.begin('a')
  starve(10 * timeBudgetLimits.blockingMsFree)
  work(20)
  piece.end()
  const next = budget.begin('a')
  work(timeBudgetLimits.impatientMs)
  assert.equal(next.isOver(), false)
})

test('an owner that holds the process again and again gets less time, until its budget is no longer overdrawn', () => {
  const { budget, collect, work } = budgetOf(20)
  const runs = (ms: number, count: number) => {
    for (let run = 0; run < count; run++) {
      const piece = budget.begin('a')
      work(ms)
      piece.end()
    }
    return budget.msOf('a')
  }
  assert.equal(runs(timeBudgetLimits.impatientMs - 1, 1000), 20, 'short work is never counted')
  assert.equal(runs(8, timeBudgetLimits.blockingMsFree / 8), 20)
  assert.equal(runs(8, 1), timeBudgetLimits.impatientMs)
  assert.equal(budget.msOf('b'), 20)
  collect((8 / timeBudgetLimits.blockingMsPerSecond) * 1000)
  assert.equal(budget.msOf('a'), 20)
})

test('the short work of a crowded owner stays in the service, until cancelled work overdraws the budget', () => {
  const { budget, crowded, work } = budgetOf(20)
  const runs = (ms: number, count: number, isCancelled: boolean) => {
    for (let run = 0; run < count; run++) {
      const piece = budget.begin('a')
      work(ms)
      if (isCancelled) piece.cancel()
      piece.end()
    }
    return budget.msOf('a')
  }
  assert.equal(runs(8, 100, false), timeBudgetLimits.impatientMs)
  assert.equal(runs(timeBudgetLimits.impatientMs, 100, true), timeBudgetLimits.impatientMs)
  crowded.add('a')
  assert.equal(budget.msOf('a'), 20, 'work that had little time has wasted none')
  assert.equal(runs(8, 100, false), 20)
  assert.equal(runs(20, timeBudgetLimits.blockingMsFree / 20 + 1, true), timeBudgetLimits.impatientMs)
})

test('garbage collection for other work does not count against short work', () => {
  const { budget, collect } = budgetOf(20)
  const piece = budget.begin('a')
  collect(10 * timeBudgetLimits.blockingMsFree)
  piece.end()
  assert.equal(budget.msOf('a'), 20)
})

test('the clock distinguishes a busy machine from a busy thread', t => {
  try {
    readFileSync('/proc/thread-self/schedstat')
  } catch {
    return t.skip('only Linux reports how long a thread has waited for a processor')
  }
  const [startMs, starvedBefore] = [performance.now(), starvedMs()]
  while (performance.now() - startMs < 20);
  const starved = starvedMs() - starvedBefore
  assert.ok(starved >= 0 && starved <= performance.now() - startMs)
})

/** A CPU budget, and code that takes the given time. */
function cpuBudgetOf(micros: () => number) {
  let now = 0
  const budget = new CpuBudget(
    () => new RangeError('too slow'),
    () => now,
  )
  const code = () => {
    now += micros()
    step(stepsPerCheck)
    return true
  }
  return { budget, code }
}

test('the code of an item shares a budget, and the next item has its own', () => {
  const { budget, code } = cpuBudgetOf(() => 50_000)
  for (let item = 0; item < 3; item++) {
    budget.perItem(100, () => {
      assert.equal(budget.within(code), true)
      assert.equal(budget.within(code), true)
      assert.throws(() => budget.within(code), RangeError)
    })
  }
})

test('code that takes no longer than its free time never exceeds the budget', () => {
  const { budget, code } = cpuBudgetOf(() => 50)
  budget.perItem(1, () => {
    for (let times = 0; times < 100_000; times++) budget.within(code, 50)
  })
})

test('the time of code is reported, even if the work throws', () => {
  const { budget, code } = cpuBudgetOf(() => 70)
  const times: number[] = []
  const report = (micros: number) => times.push(micros)
  budget.counted(() => budget.within(code), report)
  assert.throws(() =>
    budget.counted(() => {
      budget.within(code)
      throw new RangeError('broken')
    }, report),
  )
  assert.deepEqual(times, [70, 70])
})
