// The states of an export, each transition and each kind of failure, with injected faults.

import assert from 'node:assert/strict'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import { InvariantError } from '../../src/base/assert.ts'
import { micros } from '../../src/base/micros.ts'
import { systemRandom } from '../../src/base/random.ts'
import {
  type ExportRequest,
  type ExportState,
  exportStates,
  inState,
  transitions,
} from '../../src/query-log/export-request.ts'
import { ExportRunner } from '../../src/query-log/export-runner.ts'
import { fileName } from '../../src/query-log/export-storage.ts'
import { ExportStore } from '../../src/query-log/export-store.ts'
import type { KeyValueStore } from '../../src/storage/kv/kv-contract.ts'
import { openMemory } from '../../src/storage/kv/memory.ts'
import { ManualTime, startMs, until, wantedExport } from './manual-time.ts'

const timeoutMs = 60_000
const urlSeconds = 3600

/** Points at which a test blocks the work or makes it fail. */
type Point = 'records' | 'store' | 'exists' | 'address'

class World {
  readonly time = new ManualTime()
  readonly kv: KeyValueStore = openMemory()
  readonly store = new ExportStore(this.kv, systemRandom, this.time.now)
  readonly files = new Map<string, Buffer>()
  records: readonly string[] = ['one\n', 'two\n']
  readonly faults = new Map<Point, () => Promise<void>>()
  readonly failures: unknown[] = []
  /** The calls so far, for tests of their order. */
  readonly calls: Point[] = []
  /** Searches for records that have released everything. */
  searchesEnded = 0
  readonly #processes: ExportRunner[] = []
  /** The time of the clock without its leap. */
  passedTime = (): number => this.time.now()

  async #pass(point: Point): Promise<void> {
    this.calls.push(point)
    await this.faults.get(point)?.()
  }

  /** `await using` closes the processes at the end of its block. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const process of this.#processes) await process.close()
  }

  create(): Promise<ExportRequest> {
    return this.store.create(wantedExport, undefined)
  }

  /** Requests an export, and starts a process that works on it. */
  async begin(): Promise<ExportRequest & { readonly process: ExportRunner }> {
    const process = this.process()
    const request = await this.create()
    process.wake()
    return { ...request, process }
  }

  /** A process that works on exports. */
  process(): ExportRunner {
    const world = this
    const process = new ExportRunner({
      store: this.store,
      storage: {
        async store(name: string, content: Readable) {
          await world.#pass('store')
          world.files.set(name, await buffer(content))
        },
        async exists(name) {
          await world.#pass('exists')
          return world.files.has(name)
        },
        async address(name, expires) {
          await world.#pass('address')
          return `/files/${name}?${expires}`
        },
        async remove(name) {
          world.files.delete(name)
        },
      },
      owner: `process ${this.#processes.length}`,
      now: this.time.now,
      passedTime: () => micros(this.passedTime()),
      timers: this.time,
      timeoutMs,
      urlSeconds,
      records: async function* () {
        try {
          await world.#pass('records')
          for (const record of world.records) yield Buffer.from(record)
        } finally {
          world.searchesEnded++
        }
      },
      onFailure: (_, cause) => this.failures.push(cause),
    })
    this.#processes.push(process)
    return process
  }

  hang(point: Point): { reached: () => boolean; release: () => void } {
    let release = () => {}
    const gate = new Promise<void>(resolve => {
      release = resolve
    })
    let isReached = false
    this.faults.set(point, () => {
      isReached = true
      return gate
    })
    return {
      reached: () => isReached,
      release: () => {
        this.faults.delete(point)
        release()
      },
    }
  }

  fail(point: Point): void {
    this.faults.set(point, () => Promise.reject(new Error(`no ${point}`)))
  }

  state(id: string): ExportState | undefined {
    return this.store.get(id)?.state
  }

  async reach(id: string, state: ExportState): Promise<ExportRequest> {
    await until(() => this.state(id) === state, `${state}, it is ${this.state(id)}`)
    return this.store.get(id) as ExportRequest
  }

  /** Wakes all processes until an export is complete. */
  async complete(id: string): Promise<void> {
    await until(
      () => {
        for (const process of this.#processes) process.wake()
        return this.state(id) === 'Complete'
      },
      `Complete, it is ${this.state(id)}`,
    )
  }
}

test('the table of transitions is complete: it has every state, and only listed transitions happen', () => {
  const request: ExportRequest = {
    ...wantedExport,
    id: 'x',
    state: 'Requested',
    version: 1,
    createdAt: micros(1),
    updatedAt: micros(1),
    startedAt: micros(1),
    attempts: 0,
  }
  assert.deepEqual(Object.keys(transitions), [...exportStates])
  for (const from of exportStates) {
    for (const to of exportStates) {
      const change = () => inState({ ...request, state: from }, to, micros(2))
      if (transitions[from].includes(to)) assert.equal(change().state, to)
      else assert.throws(change, InvariantError)
    }
  }
})

test('Requested → Pending → CreatingNewUrl → Complete', async () => {
  await using world = new World()
  const process = world.process()
  const { id, state } = await world.create()
  assert.equal(state, 'Requested')
  const producing = world.hang('records')
  const signing = world.hang('address')
  process.wake()
  await until(producing.reached, 'the production')
  assert.equal(world.state(id), 'Pending')
  producing.release()
  await until(signing.reached, 'the URL')
  assert.equal(world.state(id), 'CreatingNewUrl')
  signing.release()
  const complete = await world.reach(id, 'Complete')
  const expires = startMs / 1000 + urlSeconds
  assert.deepEqual(complete.url, {
    address: `/files/${fileName(id)}?${Math.floor(expires)}`,
    expiresAt: Math.floor(expires) * 1e6,
  })
  assert.equal(complete.version, 1)
  assert.equal(complete.lease, undefined)
  assert.equal(gunzipSync(world.files.get(fileName(id)) as Buffer).toString(), 'one\ntwo\n')
})

test('Pending → DoesNotExist when no record matches, without a file', async () => {
  await using world = new World()
  world.records = []
  const { id } = await world.begin()
  await world.reach(id, 'DoesNotExist')
  assert.equal(world.files.size, 0)
  assert.ok(!world.calls.includes('store'))
})

for (const point of ['records', 'store', 'exists', 'address'] as const) {
  const state = point === 'records' || point === 'store' ? 'Pending' : 'CreatingNewUrl'

  test(`${state} → Failed when "${point}" fails; the next request is served`, async () => {
    await using world = new World()
    world.fail(point)
    const { id } = await world.begin()
    const failed = await world.reach(id, 'Failed')
    assert.equal(failed.url, undefined)
    await until(() => world.failures.length === 1, 'the report')
    world.faults.clear()
    const next = await world.create()
    await world.complete(next.id)
  })

  test(`${state} → TimedOut when "${point}" never ends; the next request is served`, async () => {
    await using world = new World()
    const stuck = world.hang(point)
    const { id } = await world.begin()
    await until(stuck.reached, point)
    assert.equal(world.state(id), state)
    world.time.advance(timeoutMs)
    await world.reach(id, 'TimedOut')
    stuck.release()
    const next = await world.create()
    await world.complete(next.id)
    assert.equal(world.state(id), 'TimedOut')
  })

  test(`${state} survives the end of the process at "${point}"`, async () => {
    await using world = new World()
    const stuck = world.hang(point)
    const { id, process } = await world.begin()
    await until(stuck.reached, point)
    await process.close()
    assert.equal(world.state(id), state)
    stuck.release()
    world.process().wake()
    const complete = await world.reach(id, 'Complete')
    assert.equal(complete.attempts, 1)
  })

  test(`${state} survives a crash at "${point}": another process goes on when the lease has run out`, async () => {
    await using world = new World()
    const crashed = 'crashed'
    const { id } = await world.create()
    const lease = 5_000_000
    assert.equal((await world.store.claim(crashed, lease))?.id, id)
    await world.store.advance(id, crashed, 'Pending')
    if (state === 'CreatingNewUrl') {
      world.files.set(fileName(id), Buffer.from('made before the crash'))
      await world.store.advance(id, crashed, 'CreatingNewUrl')
    }
    world.process().wake()
    await new Promise(setImmediate)
    assert.equal(world.state(id), state)
    world.time.advance(5000)
    await world.reach(id, 'Complete')
    assert.equal(world.calls.includes('store'), state === 'Pending')
    assert.equal(await world.store.advance(id, crashed, 'Failed'), undefined)
  })
}

test('Requested survives a restart', async () => {
  await using world = new World()
  const { id } = await world.create()
  world.process()
  world.time.advance(1000)
  await world.reach(id, 'Complete')
})

test('Requested → TimedOut when no process takes it in time, → Failed when it crashes every process', async () => {
  await using world = new World()
  const late = await world.create()
  world.time.advance(timeoutMs)
  const process = world.process()
  process.wake()
  await world.reach(late.id, 'TimedOut')
  await process.close()
  const deadly = await world.create()
  for (let n = 0; n < 5; n++) {
    await world.store.claim(`victim ${n}`, 1000)
    world.time.advance(1)
  }
  world.process().wake()
  await world.reach(deadly.id, 'Failed')
})

test('a long export keeps its lease, and an export that lost its lease is abandoned', async () => {
  await using world = new World()
  const stuck = world.hang('records')
  const { id } = await world.begin()
  await until(stuck.reached, 'records')
  for (let second = 0; second < 20; second++) {
    world.time.advance(1000)
    await until(() => (world.store.get(id)?.lease?.until ?? 0) > world.time.now() + 4e6, 'a renewed lease')
    assert.equal(await world.store.claim('another', 1000), undefined)
  }
  stuck.release()
  await world.reach(id, 'Complete')
})

test('a clock that leaps ahead by a year times out no export, and delays none when it is set back', async () => {
  await using world = new World()
  const { id } = await world.create()
  const ordered = world.time.now()
  world.passedTime = () => ordered
  world.time.advance(365 * 86_400_000)
  const process = world.process()
  process.wake()
  await world.reach(id, 'Complete')
  await process.close()
  const abandoned = await world.create()
  await world.store.claim('died when the clock was ahead', 5_000_000)
  assert.equal(world.store.hasFree(), false)
  const setBack = new ExportStore(world.kv, systemRandom, () => micros(ordered))
  assert.equal(setBack.hasFree(), true)
  assert.equal((await setBack.claim('another', 5_000_000))?.id, abandoned.id)
})

test('Complete → CreatingNewUrl → Complete when the URL has expired, with the next version', async () => {
  await using world = new World()
  const { id } = await world.begin()
  const first = await world.reach(id, 'Complete')
  assert.equal((await world.store.renewUrl(id))?.state, 'Complete')
  world.time.advance(urlSeconds * 1000)
  const [one, two] = await Promise.all([world.store.renewUrl(id), world.store.renewUrl(id)])
  assert.deepEqual([one?.state, one?.version], ['CreatingNewUrl', 2])
  assert.deepEqual([two?.state, two?.version], ['CreatingNewUrl', 2])
  assert.equal(one?.url, undefined)
  await world.complete(id)
  const second = world.store.get(id)
  assert.equal(second?.version, 2)
  assert.notEqual(second?.url?.address, first.url?.address)
  assert.equal(world.calls.filter(call => call === 'store').length, 1)
})

test('CreatingNewUrl → Pending when the file is missing: it is created again', async () => {
  await using world = new World()
  const { id } = await world.begin()
  await world.reach(id, 'Complete')
  world.files.clear()
  world.time.advance(urlSeconds * 1000)
  await world.store.renewUrl(id)
  await world.complete(id)
  assert.equal(world.files.size, 1)
})

test('several processes share the work: each export is created once', async () => {
  await using world = new World()
  const requests = await Promise.all(Array.from({ length: 20 }, () => world.create()))
  for (let n = 0; n < 3; n++) world.process().wake()
  for (const { id } of requests) await world.reach(id, 'Complete')
  assert.equal(world.calls.filter(call => call === 'store').length, requests.length)
})

test('a search that finds records after its export was abandoned releases them', async () => {
  await using world = new World()
  const search = world.hang('records')
  const { id } = await world.begin()
  await until(search.reached, 'the search')
  world.time.advance(timeoutMs)
  await world.reach(id, 'TimedOut')
  search.release()
  await until(() => world.searchesEnded === 1, 'the end of the search')
  assert.equal(world.files.size, 0)
})
