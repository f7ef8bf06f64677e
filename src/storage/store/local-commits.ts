// Commits attempts (evaluated transactions) in the committing process: validates them against the commits after their
// snapshot, rebases them to their commit time, and applies their writes. A stale attempt is evaluated again under the
// writer lock if it was short, or if it is the last attempt of a transaction whose caller sets no retry limit. This
// evaluation reads the newest state, so that no such transaction starves.

import { epoch, micros } from '../../base/micros.ts'
import type { Micros } from '../../values/value.ts'
import type { EncodedWrites, KeyValueStore, View, Work, Write } from '../kv/kv-contract.ts'
import type { RecentWrites } from '../kv/recent-writes.ts'
import { type ForeignBatch, isReplicated } from '../kv/replicated-store.ts'
import { type Attempt, type Evaluation, validate, writesAt } from './attempt.ts'
import type { AttemptEvaluator, CommitConditions, Commits, TransactionWork } from './commits.ts'
import { type CommitRecord, commitOf, commitWrite, lastCommit } from './last-commit.ts'
import type { SnapshotTimes } from './snapshot-times.ts'
import type { TransactionOutcome } from './store-contract.ts'

/**
 * `later`: the attempt is not valid, and is validated again in the next batch, because its batch has no time left under
 * the lock. `long`: validating the read set would take too long in this process.
 */
type Decision<T> = TransactionOutcome<T> | 'stale' | 'later' | 'long'

/** The commit directly follows the commit `last`, and has the time `time`. */
interface CommitOrder {
  readonly last: CommitRecord
  /** The latest transaction that the client has seen. */
  readonly seen: Micros
  readonly time: Micros
}

interface LocalCommitsOptions {
  readonly kv: KeyValueStore
  readonly times: SnapshotTimes
  readonly recent: RecentWrites
  /** Measures the duration of evaluations in microseconds. */
  readonly clock: () => Micros
  /** Evaluates a transaction under the lock, for a commit at `time` or later. */
  readonly evaluate: <T>(
    work: TransactionWork<T>,
    view: View,
    last: CommitRecord,
    time: Micros,
  ) => Evaluation<T>
}

/**
 * Time limit for the evaluations of a batch of commits under the lock. Then, further stale attempts wait for the next
 * batch.
 */
const lockedMicrosMax = 20_000

export class LocalCommits implements Commits {
  readonly #options: LocalCommitsOptions
  readonly #times: SnapshotTimes
  readonly #recent: RecentWrites
  /** The duration of all evaluations of the current batch under the lock, in microseconds. */
  #lockedMicros = 0

  constructor(options: LocalCommitsOptions) {
    const { kv } = options
    this.#options = options
    this.#times = options.times
    this.#recent = options.recent
    if (isReplicated(kv)) kv.watchForeign(batch => this.#addForeign(batch))
  }

  async commit<T>(
    attempt: Attempt<T>,
    conditions: CommitConditions<T>,
  ): Promise<TransactionOutcome<T> | 'stale'> {
    const { evaluator } = conditions
    for (let current = attempt; ; ) {
      const decision = await this.#decide(current, conditions)
      if (typeof decision !== 'string') return decision
      switch (decision) {
        case 'later':
          continue
        case 'stale':
        case 'long': {
          if (evaluator?.evaluateAt) return this.#commitUnderLock(evaluator.evaluateAt)
          if (decision === 'stale') return decision
          const since = (await evaluator?.validate()) ?? 'stale'
          if (since === 'stale') return since
          current = { ...current, since }
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

  #decide<T>(
    attempt: Attempt<T>,
    { again, notBefore, evaluator, seen }: CommitConditions<T>,
  ): Promise<Decision<T>> {
    // The commit usually gets the time `notBefore`. The writes for this time are computed before the lock is taken.
    const prepared = writesAt(attempt, notBefore)
    return this.#underLock(notBefore, (last, time, view): Work<Decision<T>> => {
      const by = evaluator === undefined ? 'own process' : 'other process'
      const validity = validate(attempt, view, last, time, this.#recent, by)
      if (validity === 'valid') {
        const writes = time === notBefore ? prepared : writesAt(attempt, time)
        return this.#commitOf(attempt, writes, { last, seen, time }, attempt.pieces?.(time))
      }
      if (again === undefined) return { result: validity, writes: [] }
      if (this.#lockedMicros > lockedMicrosMax) return { result: 'later', writes: [] }
      const evaluated = this.#evaluateHere(again, view, last, time)
      const order = { last, seen, time: evaluated.commitTime }
      const { result, writes } = this.#commitOf(evaluated, evaluated.writes, order)
      return { result: { ...result, retries: 1 }, writes }
    })
  }

  /** Commits an attempt that another process evaluates while this process holds the lock. */
  async #commitUnderLock<T>(
    evaluateAt: NonNullable<AttemptEvaluator<T>['evaluateAt']>,
  ): Promise<TransactionOutcome<T> | 'stale'> {
    const announcement = this.#times.announce(epoch)
    let attempt: Attempt<T> | 'stale' = 'stale'
    try {
      const prepare = async () => {
        const time = this.#options.kv.read(view =>
          this.#times.commitTime(announcement.time, lastCommit(view)),
        )
        attempt = await evaluateAt(time)
      }
      return await this.#underLock(
        announcement.time,
        (last, _, view): Work<TransactionOutcome<T> | 'stale'> => {
          if (attempt === 'stale') return { result: 'stale', writes: [] }
          const { commitTime, pieces, writes } = attempt
          if (validate(attempt, view, last, commitTime, this.#recent, 'other process') !== 'valid')
            return { result: 'stale', writes: [] }
          const order = { last, seen: epoch, time: commitTime }
          const { result, ...work } = this.#commitOf(attempt, writes, order, pieces?.(commitTime))
          return { ...work, result: { ...result, retries: 1 } }
        },
        prepare,
      )
    } finally {
      announcement.end()
    }
  }

  /**
   * Runs `work` under the lock, and commits the returned writes. `last`: the newest commit. `time`: the next commit.
   * `prepare`: called under the lock before `work`.
   */
  async #underLock<T>(
    notBefore: Micros,
    work: (last: CommitRecord, time: Micros, view: View) => Work<T>,
    prepare?: () => Promise<void>,
  ): Promise<T> {
    let hasWritten = false
    try {
      return await this.#options.kv.transact(view => {
        // If a batch fails, its transactions may run again. The recent writes may then contain a commit of the failed
        // run.
        if (hasWritten) this.#recent.clear()
        const last = lastCommit(view)
        const done = work(last, this.#times.commitTime(notBefore, last), view)
        hasWritten = done.writes.length > 0
        return done
      }, prepare)
    } catch (error) {
      // The recent writes may contain commits of the failed batch.
      if (hasWritten) this.#recent.clear()
      throw error
    }
  }

  /** Adds the commits of another node to the recent writes. */
  #addForeign({ after, writes }: ForeignBatch): void {
    let before = after
    let own: Write[] = []
    for (const write of writes) {
      // The recent writes retain keys for long, and the original keys would retain the memory of their complete batch.
      own.push({ key: new Uint8Array(write.key), value: undefined })
      const commit = commitOf(write)
      if (commit === undefined) continue
      this.#recent.add(commit.time, before, own)
      before = commit.time
      own = []
    }
  }

  #evaluateHere<T>(work: TransactionWork<T>, view: View, last: CommitRecord, time: Micros): Evaluation<T> {
    const { clock, evaluate } = this.#options
    const started = clock()
    if (this.#lockedMicros === 0) {
      // All transactions of a batch run synchronously one after the other, so the next microtask runs after the end of
      // the batch.
      queueMicrotask(() => {
        this.#lockedMicros = 0
      })
    }
    try {
      return evaluate(work, view, last, time)
    } finally {
      this.#lockedMicros += Math.max(1, clock() - started)
    }
  }

  #commitOf<T>(
    { changesSchema, counters, chosenIdsMs, latestExpiry, result }: Evaluation<T>,
    writes: readonly Write[],
    { last, seen, time }: CommitOrder,
    pieces?: EncodedWrites,
  ): Work<TransactionOutcome<T>> {
    const hasWrites = writes.length > 0 || pieces !== undefined
    if (!hasWrites) {
      const readTimestamp = this.#times.readTimestamp(last, seen)
      if (readTimestamp !== undefined && latestExpiry <= readTimestamp)
        return { result: { result, time: readTimestamp, counters, retries: 0 }, writes }
      // The read timestamp is not valid for the attempt: the client has seen a later time, or a document that the
      // attempt read as expired had not expired. An empty commit is made instead, and the attempt gets the time
      // directly before it.
    }
    this.#times.recordCommit(time)
    const commit = commitWrite({
      time,
      schemaTime: changesSchema ? time : last.schemaTime,
      chosenIdsMs: Math.max(last.chosenIdsMs, chosenIdsMs),
    })
    const all = [...writes, commit]
    // Without the keys in `pieces`, attempts on earlier snapshots validate their complete read set.
    if (pieces === undefined) this.#recent.add(time, last.time, all)
    return {
      result: { result, time: hasWrites ? time : micros(time - 1), counters, retries: 0 },
      writes: all,
      ...(pieces && { pieces }),
    }
  }
}
