// Strict serializability across processes and retries, with a store that re-runs, delays, reorders and rejects commits.
// Canaries with a known fault show that the judge would notice. `SEED=n` runs one seed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { epoch } from '../../src/base/micros.ts'
import type { Timeline } from '../../src/base/timeline.ts'
import type { KeyValueStore, Write } from '../../src/storage/kv/kv-contract.ts'
import { packAttempt, unpackAttempt } from '../../src/storage/store/sent-attempt.ts'
import { Store } from '../../src/storage/store/store.ts'
import { seedsToRun } from '../support/seeded.ts'
import { type CommitOf, runHistory } from './histories.ts'

const steps = 2000

for (const seed of seedsToRun([1, 2, 3, 4])) {
  test(`bank, lists, register and set are strictly serializable (seed ${seed})`, async () => {
    const history = await runHistory({ seed, steps })
    assert.ok(history.length > steps / 10)
    assert.ok(history.some(({ program }) => program.writes) && history.some(({ program }) => !program.writes))
  })
}

for (const seed of seedsToRun([11, 12])) {
  test(`attempts that are sent to another process are strictly serializable (seed ${seed})`, async () => {
    const commit: CommitOf = (store, attempt) => store.commit(structuredClone(attempt))
    await runHistory({ seed, steps, commit })
  })
}

/** Stores of slow-lane processes, by the store of the service. They send their attempts to the service. */
const lanes = new WeakMap<Store, Store>()

function laneOf(service: Store): Store {
  const known = lanes.get(service)
  if (known !== undefined) return known
  const clock = () => epoch
  const timeline: Timeline = {
    now: clock,
    reach: () => ({ now: epoch, upTo: epoch }),
    announce: time => ({ time, end: () => {} }),
  }
  const lane = new Store(service.kv, { clock, timeline, hooks: { evaluateBinding: () => undefined } })
  lanes.set(service, lane)
  return lane
}

/**
 * Sends an attempt like a slow-lane process. That process also validates read sets that are too large for the service.
 */
const commitSent: CommitOf = async (service, attempt) => {
  const { body, head } = packAttempt(attempt)
  const outcome = await service.commit(await unpackAttempt(structuredClone(head), [body]), {
    validate: async () => laneOf(service).validated(attempt),
  })
  return outcome === 'stale' ? outcome : { ...outcome, result: attempt.result }
}

for (const seed of seedsToRun([15, 16, 17])) {
  test(`commits of attempts that other processes send are strictly serializable (seed ${seed})`, async () => {
    let commits = 0
    // Commits alternate between both processes.
    const commit: CommitOf = (service, attempt) =>
      commits++ % 2 === 0 ? commitSent(service, attempt) : service.commit(structuredClone(attempt))
    await runHistory({ seed, steps, commit })
  })
}

/** Runs a canary with several seeds. The judge must fail at least one run. */
async function assertCaught(run: (seed: number) => Promise<unknown>): Promise<void> {
  const outcomes = await Promise.allSettled([21, 22, 23].map(run))
  const caught = outcomes.filter(
    outcome => outcome.status === 'rejected' && outcome.reason instanceof assert.AssertionError,
  )
  assert.ok(caught.length > 0, 'the judge noticed nothing')
}

test('attempts whose read sets are not validated would be caught', async () => {
  const reads = { keys: new Map(), ranges: [] }
  const commit: CommitOf = (store, attempt) => store.commit({ ...attempt, reads, schemas: new Map() })
  await assertCaught(seed => runHistory({ seed, steps, commit }))
})

test('attempts whose read ranges are not validated would be caught', async () => {
  const commit: CommitOf = (store, attempt) =>
    store.commit({ ...attempt, reads: { ...attempt.reads, ranges: [] } })
  await assertCaught(seed => runHistory({ seed, steps, commit }))
})

/** A store that is correct, except that it writes only what `kept` leaves of each transaction. */
function around(kv: KeyValueStore, kept: (writes: readonly Write[]) => readonly Write[]): KeyValueStore {
  return {
    read: read => kv.read(read),
    transact: work =>
      kv.transact(view => {
        const done = work(view)
        return { ...done, writes: kept(done.writes) }
      }),
    watch: listener => kv.watch(listener),
    close: () => kv.close(),
  }
}

test('a commit that is confirmed and lost would be caught', async () => {
  let commits = 0
  const losing = (kv: KeyValueStore) => around(kv, writes => (++commits % 50 === 0 ? [] : writes))
  await assertCaught(seed => runHistory({ seed, steps, around: losing }))
})

test('a snapshot with only half of a commit would be caught', async () => {
  const tearing = (kv: KeyValueStore) =>
    around(kv, writes => {
      const documents = writes.filter(({ key }) => key[0] === 0x44)
      return documents.length < 2 ? writes : writes.filter(each => each !== documents[0])
    })
  await assertCaught(seed => runHistory({ seed, steps, around: tearing }))
})
