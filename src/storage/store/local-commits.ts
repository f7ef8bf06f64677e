// Commits attempts in this process, which owns the writer of the store. It validates each attempt against the commits
// since its snapshot, rebases the attempt to its commit time and applies its writes. A short stale attempt is evaluated
// again under the lock, on the newest state, so that no transaction starves.

import { epoch, micros } from '../../base/micros.ts'
import type { Micros } from '../../values/value.ts'
import type { EncodedWrites, KeyValueStore, View, Work, Write } from '../kv/kv-contract.ts'
import type { RecentWrites } from '../kv/recent-writes.ts'
import { type ForeignBatch, isReplicated } from '../kv/replicated-store.ts'
import { type Attempt, type Evaluation, validateElsewhere, validateHere, writesAt } from './attempt.ts'
import type { AttemptOwner, Commits, CommitTerms, TransactionWork } from './commits.ts'
import { type CommitRecord, commitOf, commitWrite, lastCommit } from './last-commit.ts'
import type { SnapshotTimes } from './snapshot-times.ts'
import type { TransactionOutcome } from './store-contract.ts'

/**
 * The outcome of an attempt under the lock. `later`: the attempt is stale, and the batch has used up its time under the
 * lock, so the attempt is evaluated again in the next batch. `long`: validating its read set would take too long here.
 */
type Decision<T> = TransactionOutcome<T> | 'stale' | 'later' | 'long'

/** The position of a commit in the order of commits. */
interface CommitPlace {
  readonly last: CommitRecord
  /** The latest commit time that the client of this commit has seen. */
  readonly seen: Micros
  readonly time: Micros
}

/** Evaluates a transaction under the lock, for a commit at `time` or later. */
export type EvaluateHere = <T>(
  work: TransactionWork<T>,
  view: View,
  last: CommitRecord,
  time: Micros,
) => Evaluation<T>

interface LocalCommitsOptions {
  readonly kv: KeyValueStore
  readonly times: SnapshotTimes
  readonly recent: RecentWrites
  /** Microseconds, to measure the duration of evaluation. */
  readonly clock: () => Micros
  readonly evaluate: EvaluateHere
}

/** Microseconds that a batch of commits may evaluate under the lock before the rest waits for the next batch. */
const lockedMicrosMax = 20_000

export class LocalCommits implements Commits {
  readonly #kv: KeyValueStore
  readonly #times: SnapshotTimes
  readonly #recent: RecentWrites
  readonly #clock: () => Micros
  readonly #evaluate: EvaluateHere
  /** Microseconds that the batch under the lock has evaluated so far. */
  #lockedMicros = 0

  constructor({ clock, evaluate, kv, recent, times }: LocalCommitsOptions) {
    this.#kv = kv
    this.#times = times
    this.#recent = recent
    this.#clock = clock
    this.#evaluate = evaluate
    if (isReplicated(kv)) kv.watchForeign(batch => this.#apply(batch))
  }

  async commit<T>(attempt: Attempt<T>, terms: CommitTerms<T>): Promise<TransactionOutcome<T> | 'stale'> {
    const { owner } = terms
    for (let valid = attempt; ; ) {
      const decision = await this.#decide(valid, terms)
      if (typeof decision !== 'string') return decision
      switch (decision) {
        case 'later':
          continue
        case 'stale':
        case 'long': {
          if (owner?.evaluateAt) return this.#commitInTurn(owner.evaluateAt)
          if (decision === 'stale') return decision
          const since = (await owner?.validate()) ?? 'stale'
          if (since === 'stale') return since
          valid = { ...valid, since }
        }
      }
    }
  }

  async passTime(): Promise<void> {
    const announcement = this.#times.announce(epoch)
    try {
      await this.#underLock(announcement.time, (last, time) => {
        const write = commitWrite({ ...last, time })
        this.#recent.add(time, last.time, [write])
        return { result: undefined, writes: [write] }
      })
    } finally {
      announcement.end()
    }
  }

  #decide<T>(attempt: Attempt<T>, { again, notBefore, owner, seen }: CommitTerms<T>): Promise<Decision<T>> {
    // The writes are computed for the time `notBefore` before the lock is taken, because the commit usually gets this
    // time.
    const prepared = writesAt(attempt, notBefore)
    return this.#underLock(notBefore, (last, time, view): Work<Decision<T>> => {
      const check = owner === undefined ? validateHere : validateElsewhere
      const validity = check(attempt, view, last, time, this.#recent)
      if (validity === 'valid') {
        const writes = time === notBefore ? prepared : writesAt(attempt, time)
        return this.#commitOf(attempt, writes, { last, seen, time }, attempt.pieces?.(time))
      }
      if (validity === 'long') return { result: validity, writes: [] }
      if (again === undefined) return { result: 'stale', writes: [] }
      if (this.#lockedMicros > lockedMicrosMax) return { result: 'later', writes: [] }
      const evaluated = this.#evaluateHere(this.#evaluate, again, view, last, time)
      const place = { last, seen, time: evaluated.commitTime }
      const { result, writes } = this.#commitOf(evaluated, evaluated.writes, place)
      return { result: { ...result, retries: 1 }, writes }
    })
  }

  /** Commits an attempt that another process evaluates without concurrent commits. */
  async #commitInTurn<T>(
    evaluateAt: NonNullable<AttemptOwner<T>['evaluateAt']>,
  ): Promise<TransactionOutcome<T> | 'stale'> {
    const announcement = this.#times.announce(epoch)
    let attempt: Attempt<T> | 'stale' = 'stale'
    try {
      const prepare = async () => {
        const time = this.#kv.read(view => this.#times.commitTime(announcement.time, lastCommit(view)))
        attempt = await evaluateAt(time)
      }
      return await this.#underLock(
        announcement.time,
        (last, _, view): Work<TransactionOutcome<T> | 'stale'> => {
          if (attempt === 'stale') return { result: 'stale', writes: [] }
          const { commitTime, pieces, writes } = attempt
          if (validateElsewhere(attempt, view, last, commitTime, this.#recent) !== 'valid')
            return { result: 'stale', writes: [] }
          const place = { last, seen: epoch, time: commitTime }
          const { result, ...work } = this.#commitOf(attempt, writes, place, pieces?.(commitTime))
          return { ...work, result: { ...result, retries: 1 } }
        },
        prepare,
      )
    } finally {
      announcement.end()
    }
  }

  /** Runs `work` with the newest commit, and the announced time of the next one. */
  async #underLock<T>(
    notBefore: Micros,
    work: (last: CommitRecord, time: Micros, view: View) => Work<T>,
    prepare?: () => Promise<void>,
  ): Promise<T> {
    let hasWritten = false
    try {
      return await this.#kv.transact(view => {
        // `work` runs again if its batch failed. The commits that the failed run recorded were not committed.
        if (hasWritten) this.#recent.clear()
        const last = lastCommit(view)
        const done = work(last, this.#times.commitTime(notBefore, last), view)
        hasWritten = done.writes.length > 0
        return done
      }, prepare)
    } catch (error) {
      // Other commits of the same batch may have failed, too.
      if (hasWritten) this.#recent.clear()
      throw error
    }
  }

  /** Adds the commits of another machine to the recent writes, as if they had been made here. */
  #apply({ after, writes }: ForeignBatch): void {
    let before = after
    let own: Write[] = []
    for (const write of writes) {
      // The keys are copied, because recent writes keep them for long, and each key shares the memory of a whole batch.
      own.push({ key: new Uint8Array(write.key), value: undefined })
      const commit = commitOf(write)
      if (commit === undefined) continue
      this.#recent.add(commit.time, before, own)
      before = commit.time
      own = []
    }
  }

  #evaluateHere<T>(
    evaluate: EvaluateHere,
    work: TransactionWork<T>,
    view: View,
    last: CommitRecord,
    time: Micros,
  ): Evaluation<T> {
    const started = this.#clock()
    if (this.#lockedMicros === 0) {
      // All jobs of a batch run in the same turn of the event loop, so the batch has ended in the next microtask.
      queueMicrotask(() => {
        this.#lockedMicros = 0
      })
    }
    try {
      return evaluate(work, view, last, time)
    } finally {
      this.#lockedMicros += Math.max(1, this.#clock() - started)
    }
  }

  #commitOf<T>(
    { changesSchema, counters, chosenIdsMs, latestExpiry, result }: Evaluation<T>,
    writes: readonly Write[],
    { last, seen, time }: CommitPlace,
    pieces?: EncodedWrites,
  ): Work<TransactionOutcome<T>> {
    const hasWrites = writes.length > 0 || pieces !== undefined
    if (!hasWrites) {
      const readTimestamp = this.#times.readTimestamp(last, seen)
      if (readTimestamp !== undefined && latestExpiry <= readTimestamp)
        return { result: { result, time: readTimestamp, counters, retries: 0 }, writes }
      // No read timestamp can be used: the client has seen a later time, or a document that the attempt read as expired
      // has not expired at the read timestamp. So an empty commit is made, and the attempt gets the time right before
      // it.
    }
    this.#times.recordCommit(time)
    const commit = commitWrite({
      time,
      schemaTime: changesSchema ? time : last.schemaTime,
      chosenIdsMs: Math.max(last.chosenIdsMs, chosenIdsMs),
    })
    const all = [...writes, commit]
    // The keys of pieces are not recorded. Because of this gap, attempts on earlier snapshots compare their whole read
    // set.
    if (pieces === undefined) this.#recent.add(time, last.time, all)
    return {
      result: { result, time: hasWrites ? time : micros(time - 1), counters, retries: 0 },
      writes: all,
      ...(pieces && { pieces }),
    }
  }
}
