// The gate: many together or one alone, and nobody starves.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { SharedGate } from '../../../src/base/shared-gate.ts'

/** Someone at a gate, and what became of it. */
function come(gate: SharedGate, seen: string[], name: string): { through(): void } {
  const wait = gate.enter()
  if (wait === undefined) seen.push(name)
  else void wait.then(() => seen.push(name))
  return { through: () => gate.leave() }
}

function comeAlone(gate: SharedGate, seen: string[], name: string): { through(): void } {
  let open = (): void => assert.fail('it has not passed')
  void gate.alone().then(opened => {
    open = opened
    seen.push(name)
  })
  return { through: () => open() }
}

test('many pass together, and one alone when they are through', async () => {
  const gate = new SharedGate()
  const seen: string[] = []
  const a = come(gate, seen, 'a')
  const b = come(gate, seen, 'b')
  assert.deepEqual(seen, ['a', 'b'], 'without waiting a turn')
  const alone = comeAlone(gate, seen, 'alone')
  a.through()
  await turn()
  assert.deepEqual(seen, ['a', 'b'])
  b.through()
  await turn()
  assert.deepEqual(seen, ['a', 'b', 'alone'])
  come(gate, seen, 'c')
  await turn()
  assert.deepEqual(seen, ['a', 'b', 'alone'])
  alone.through()
  await turn()
  assert.deepEqual(seen, ['a', 'b', 'alone', 'c'])
})

test('who has waited for one that was alone goes before the next of them, and that one before who comes later', async () => {
  const gate = new SharedGate()
  const seen: string[] = []
  const first = comeAlone(gate, seen, 'first alone')
  const second = comeAlone(gate, seen, 'second alone')
  await turn()
  const early = come(gate, seen, 'early')
  first.through()
  await turn()
  assert.deepEqual(seen, ['first alone', 'early'])
  come(gate, seen, 'late')
  early.through()
  await turn()
  assert.deepEqual(seen, ['first alone', 'early', 'second alone'])
  second.through()
  await turn()
  assert.deepEqual(seen, ['first alone', 'early', 'second alone', 'late'])
})
