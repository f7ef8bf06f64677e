// Runs histories of several processes over one store, and judges them. Every transaction is a program over named cells.
// It runs against the store and later, in the order of the transactions' times, against a plain map. Both runs must
// return the same. Clients must also have been able to observe this order.

import assert from 'node:assert/strict'
import { isDeepStrictEqual } from 'node:util'
import { epoch, micros } from '../../src/base/micros.ts'
import { AnnouncedCommits, type Timeline } from '../../src/base/timeline.ts'
import type { KeyValueStore } from '../../src/storage/kv/kv-contract.ts'
import { openMemory } from '../../src/storage/kv/memory.ts'
import { StoreUnavailableError } from '../../src/storage/kv/store-errors.ts'
import type { Attempt } from '../../src/storage/store/attempt.ts'
import { Store } from '../../src/storage/store/store.ts'
import type { Transaction } from '../../src/storage/store/store-contract.ts'
import type { Ref, Value } from '../../src/values/value.ts'
import { RandomSource } from '../support/seeded.ts'
import { UnrulyStore } from '../support/unruly-store.ts'
import { createCollection, data, documentRef } from '../unit/storage/store/support.ts'

/**
 * The operations of a transaction. Cells contain numbers or lists of numbers; a cell that was never set is undefined.
 */
interface Cells {
  get(cell: number): Value | undefined
  set(cell: number, value: Value): void
  /** The numbers of all existing cells. */
  all(): readonly number[]
}

interface Program {
  readonly name: string
  readonly writes: boolean
  readonly run: (cells: Cells) => unknown
}

const accounts = [1, 2, 3, 4]
const lists = [11, 12, 13]
const register = 21
const memberCount = 22
const members = 1000
const opening = 100n

const integer = (value: Value | undefined, otherwise = 0n) => (typeof value === 'bigint' ? value : otherwise)
const list = (value: Value | undefined) => (Array.isArray(value) ? (value as readonly Value[]) : [])

/**
 * A random program: bank transfers, list appends, a register or a set. Their results must look as if all programs ran
 * on a single thread.
 */
function someProgram(random: RandomSource, unique: number): Program {
  const from = random.pick(accounts)
  const to = random.pick(accounts)
  const one = random.pick(lists)
  const other = random.pick(lists)
  const value = BigInt(unique)
  const programs: Program[] = [
    {
      name: `transfer ${from} -> ${to}`,
      writes: true,
      run: cells => {
        const balance = integer(cells.get(from), opening)
        if (balance === 0n || from === to) return [balance]
        cells.set(from, balance - 1n)
        cells.set(to, integer(cells.get(to), opening) + 1n)
        return [balance]
      },
    },
    {
      name: 'sum of accounts',
      writes: false,
      run: cells => accounts.map(account => integer(cells.get(account), opening)),
    },
    {
      name: `append ${unique} to ${one}, look at ${other}`,
      writes: true,
      run: cells => {
        const seen = list(cells.get(other))
        cells.set(one, [...list(cells.get(one)), value])
        return seen
      },
    },
    { name: `read ${one} and ${other}`, writes: false, run: cells => [cells.get(one), cells.get(other)] },
    {
      name: `swap the register for ${unique}`,
      writes: true,
      run: cells => {
        const before = cells.get(register)
        cells.set(register, value)
        return before
      },
    },
    { name: 'add a member', writes: true, run: cells => cells.set(members + unique, value) },
    { name: 'note how many members there are', writes: true, run: noteMembers },
    { name: 'members', writes: false, run: cells => cells.all() },
  ]
  return random.pick(programs)
}

/** Counts the members and stores the number. After a phantom read, the number would be wrong. */
function noteMembers(cells: Cells): number {
  const count = cells.all().filter(cell => cell >= members).length
  cells.set(memberCount, BigInt(count))
  return count
}

/** A transaction as its client has observed it. */
interface ObservedTransaction {
  readonly program: Program
  readonly learned: unknown
  readonly time: number
  readonly began: number
  ended: number
}

/**
 * Throws at the first transaction whose result does not fit the order of commits. `commits` contains the times of all
 * commits, oldest first.
 */
function judgeHistory(history: readonly ObservedTransaction[], commits: readonly number[]): void {
  const cells = new Map<number, Value>()
  const model: Cells = {
    get: cell => cells.get(cell),
    set: (cell, value) => void cells.set(cell, value),
    all: () => [...cells.keys()].sort((left, right) => left - right),
  }
  // A transaction without writes saw the state after the last commit up to its own time.
  const placed = history.map(happened => {
    const place = commits.findLastIndex(commit => commit <= happened.time)
    return { ...happened, place, isCommit: commits[place] === happened.time }
  })
  placed.sort(
    (left, right) =>
      left.place - right.place || Number(right.isCommit) - Number(left.isCommit) || left.began - right.began,
  )
  let latestBeginning = 0
  for (const { began, ended, learned, program } of placed) {
    assert.ok(
      isDeepStrictEqual(program.run(model), learned),
      `${program.name} returned a wrong result: ${shown(learned)}`,
    )
    assert.ok(ended > latestBeginning, `${program.name} is ordered after a transaction that began later`)
    latestBeginning = Math.max(latestBeginning, began)
  }
}

function shown(value: unknown): string {
  return JSON.stringify(value, (_key, part) => (typeof part === 'bigint' ? String(part) : part))
}

function cellsOf(transaction: Transaction, collection: Ref): Cells {
  return {
    get: cell => {
      const content = transaction.get(documentRef(collection, cell))?.fields.get('data')
      return content instanceof Map ? (content.get('value') as Value) : undefined
    },
    set: (cell, value) => void transaction.put(documentRef(collection, cell), data({ value })),
    all: () =>
      Array.from(transaction.documents(collection.database, Number(collection.id), {}), entry =>
        Number(entry.document.id),
      ),
  }
}

/** Commits an evaluated attempt of a process. Canaries pass an incorrect function. */
export type CommitOf = <T>(store: Store, attempt: Attempt<T>) => ReturnType<Store['commit']> | undefined

export interface HistoryOptions {
  readonly seed: number
  readonly steps: number
  /** The number of processes, by default three. */
  readonly processes?: number
  /** Commits an attempt. If absent, or if it returns undefined, `store.write` commits. */
  readonly commit?: CommitOf
  /** Wraps the store of the processes. */
  readonly around?: (kv: KeyValueStore) => KeyValueStore
}

const processesDefault = 3
const clientsMax = 12

/** Runs clients of several processes, and judges their results. */
export async function runHistory(options: HistoryOptions): Promise<readonly ObservedTransaction[]> {
  const random = new RandomSource(options.seed)
  const unruly = new UnrulyStore(openMemory(), random)
  const stores = openProcesses(options.around?.(unruly) ?? unruly, options.processes ?? processesDefault)
  const drive = async <T>(work: Promise<T>): Promise<T> => {
    let isOver = false
    const over = () => {
      isOver = true
    }
    work.then(over, over)
    while (!isOver) await proceed(unruly)
    return work
  }
  const collection = await firstSuccess(() =>
    drive((stores[0] as Store).write(transaction => createCollection(transaction, 'cells'))),
  )
  const history: ObservedTransaction[] = []
  const open = new Set<Promise<void>>()
  let moment = 0
  for (let step = 0; step < options.steps; step++) {
    if (open.size < clientsMax && random.below(2) === 0) {
      const store = random.pick(stores)
      const program = someProgram(random, step)
      const began = ++moment
      const end = runProgram(store, program, collection.result, options.commit).then(({ result, time }) => {
        history.push({ program, learned: result, time, began, ended: ++moment })
      }, forgiveRefusal)
      const tracked: Promise<void> = end.finally(() => open.delete(tracked))
      open.add(tracked)
    } else await proceed(unruly)
  }
  await drive(Promise.all(open))
  const changes = (stores[0] as Store).changes(epoch, Number.MAX_SAFE_INTEGER)
  judgeHistory(
    history,
    changes.map(({ time }) => time),
  )
  assert.deepEqual((stores[0] as Store).check(), [])
  return history
}

function openProcesses(kv: KeyValueStore, processes: number): Store[] {
  let clock = 1_700_000_000_000_000
  const now = () => micros(clock++)
  const announced = Array.from({ length: processes }, () => new AnnouncedCommits())
  return announced.map((own, worker) => {
    const timeline: Timeline = {
      now,
      announce: atLeast => own.begin(atLeast, now),
      reach: () => {
        const time = now()
        return { now: time, upTo: micros(Math.min(time, ...announced.map(({ oldest }) => oldest - 1))) }
      },
    }
    return new Store(kv, { clock: now, timeline, worker, hooks: { evaluateBinding: () => undefined } })
  })
}

async function proceed(unruly: UnrulyStore): Promise<void> {
  await unruly.step()
  await new Promise(resolve => setImmediate(resolve))
}

async function firstSuccess<T>(attempt: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await attempt()
    } catch (error) {
      forgiveRefusal(error)
    }
  }
}

/** Ignores the error of a rejected commit, which has written nothing. Rethrows other errors. */
function forgiveRefusal(error: unknown): void {
  if (!(error instanceof StoreUnavailableError)) throw error
}

async function runProgram(
  store: Store,
  program: Program,
  collection: Ref,
  commit: CommitOf | undefined,
): Promise<{ readonly result: unknown; readonly time: number }> {
  const work = (transaction: Transaction) => program.run(cellsOf(transaction, collection))
  if (!program.writes) return store.read(work)
  if (commit !== undefined) {
    const outcome = await commit(store, store.attempt(work))
    if (outcome !== undefined && outcome !== 'stale') return outcome
  }
  return store.write(work)
}
