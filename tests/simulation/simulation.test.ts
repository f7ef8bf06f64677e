// Strict serializability, tested with random runs: many clients send requests in an order drawn from a seed, and all
// responses are judged. A failure names its seed. `SEED=n npx node --test tests/simulation/simulation.test.ts` replays
// it exactly, except on a real disk.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openMemory } from '../../src/storage/kv/memory.ts'
import { openLmdb } from '../../src/storage/lmdb/lmdb.ts'
import { folderOfFile } from '../support/folder.ts'
import { Model } from '../support/model.ts'
import { seedsToRun } from '../support/seeded.ts'
import { type Fate, SteppedStore } from '../support/seeded-store.ts'
import { type SimulationOptions, simulate } from './simulation.ts'

const folder = folderOfFile()

/** A run over a store in memory whose commits proceed step by step. */
function simulateSteps(seed: number, options: Partial<SimulationOptions> = {}): Promise<void> {
  const stepped = new SteppedStore(openMemory())
  return simulate({ seed, kv: stepped, stepped, steps: 1500, ...options })
}

for (const seed of seedsToRun([1, 2, 3, 4])) {
  test(`every response is correct for any interleaving of commit stages (seed ${seed})`, () =>
    simulateSteps(seed))
}

const faults: readonly Fate[] = ['rejected', 'applied but reported as failed']

for (const seed of seedsToRun([11, 12])) {
  test(`failing commits are atomic (seed ${seed})`, () => simulateSteps(seed, { faults }))
}

for (const seed of seedsToRun([21, 22])) {
  test(`every response is correct on a disk (seed ${seed})`, () =>
    simulate({ seed, kv: openLmdb({ path: join(folder, String(seed)) }), steps: 1500 }))
}

test('a store that loses confirmed commits would be caught', () =>
  assert.rejects(simulateSteps(31, { faults: ['lost'] }), /SEED=31/))

for (const rule of ['unique', 'ttl'] as const) {
  test(`a database that ignores ${rule} would be caught`, () =>
    assert.rejects(simulateSteps(32, { model: new Model([rule]) }), /SEED=32/))
}
