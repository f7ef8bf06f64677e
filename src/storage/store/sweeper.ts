// Removes data that can no longer be read: the data of deleted databases, collections and indexes, old rows of the
// change record and the change log (change-log.ts), and the expired history of each collection (expiry-marks.ts). Each
// step is short, and its cost depends on the removed data, not on the remaining data.
//
// For the sweeper, the removal time determines which data has expired (base/removal-time.ts). The removal time does not
// jump when the clock is set. For a read, the time of its snapshot determines which data has expired. If the snapshot
// time is later than the removal time, a read may be rejected although its data still exists.

import { epoch, micros } from '../../base/micros.ts'
import { collectionOf, type DatabaseId, type Micros, native } from '../../values/value.ts'
import type { Bytes, View } from '../kv/kv-contract.ts'
import type { Overlay } from '../kv/overlay.ts'
import { Batch, batchEnd, batchWritesMax } from './batch.ts'
import { expiredRows } from './expired-rows.ts'
import { type ExpiryMark, expiringNatives, expiryMarks, markExpiry } from './expiry-marks.ts'
import { ExpiryPlan, nextCheck, type PlannedCheck, planProgressKey } from './expiry-plan.ts'
import { hasOldChanges, removeOldChanges } from './old-changes.ts'
import { never } from './records.ts'
import { nextGarbage, removeGarbage } from './removals.ts'
import type { Store } from './store.ts'
import type { CollectionIds } from './store-contract.ts'
import { RemovalCursor, recordWork, type SweeperWork, workOf } from './sweeper-work.ts'
import type { StoreTransaction } from './transaction.ts'

/** Maximum number of collections that one step checks. */
const checksPerStep = 256

/**
 * Time until the next check of a collection after its sweep has failed or removed data, and maximum time between two
 * reads of the checks from the start, in microseconds.
 */
const pauseMicros = 60_000_000
/** Least time until the next check. A check is due too early if the time of the snapshot is behind the removal time. */
const retryMicros = 1_000_000

interface ExpiredCollection extends CollectionIds {
  /** The row of pending work. */
  readonly key: Bytes
  /** The expiry marks of the expired data, oldest first, at most {@link batchWritesMax}. */
  readonly marks: readonly ExpiryMark[]
}

/** A row of pending work, and the checks that replace it. */
interface ReplacedCheck {
  readonly key: Bytes
  readonly checks: readonly PlannedCheck[]
}

export class Sweeper {
  readonly #store: Store
  readonly #removalTime: () => Micros
  readonly #batchMs: number | undefined
  readonly #plan: ExpiryPlan
  readonly #removals = new RemovalCursor()
  /**
   * The first check that was due at the last step. The next step reads from there, because a read from the start would
   * skip all finished checks which LMDB still contains. A read at least once a minute begins at the start, so that a
   * collection with a large backlog does not delay checks that were added before its own check.
   */
  #checksFrom: Bytes | undefined
  /** The time of the last read from the start. */
  #startedAt: Micros = epoch
  /** Expiry marks that were read but not processed yet. */
  #unprocessed: { readonly of: string; readonly marks: readonly ExpiryMark[] } | undefined
  /**
   * The last processed mark of each collection whose data is being removed. The next marks are read from there, because
   * a read from the start would skip all removed marks which LMDB still contains.
   */
  readonly #from = new Map<string, Bytes>()
  /** The last removed row of the change log. Later rows have later times. */
  #changesFrom: Bytes | undefined

  /**
   * `removalTime` determines which data has expired; by default the time of the store. `batchMs`: the time limit of a
   * batch, if any. To remove data, the sweeper may have to compute bindings (computed fields) of a database. After long
   * computations, the store requests a pause for the database (`bindingPauses`). The sweeper observes such pauses only
   * if `batchMs` is given.
   */
  constructor(store: Store, removalTime: () => Micros = () => store.now(), batchMs?: number) {
    this.#store = store
    this.#batchMs = batchMs
    this.#removalTime = removalTime
    this.#plan = new ExpiryPlan(store, batchMs)
  }

  /** Returns whether there may be more work to do now. */
  async runOnce(): Promise<boolean> {
    const hasGarbage = await this.#sweepGarbage()
    const isPlanning = await this.#plan.step()
    // The plan must have read the change log before old rows are removed.
    const hasChanges = !isPlanning && (await this.#sweepChanges())
    const hasExpired = await this.#sweepExpired()
    return hasGarbage || isPlanning || hasChanges || hasExpired
  }

  async runAll(): Promise<void> {
    while (await this.runOnce()) {}
  }

  /**
   * Drops the state in memory. Called while another process may remove data, because the state in memory then becomes
   * outdated.
   */
  forget(): void {
    this.#plan.forget()
    this.#unprocessed = undefined
    this.#from.clear()
    this.#removals.reset()
    this.#checksFrom = undefined
    this.#changesFrom = undefined
  }

  async #sweepGarbage(): Promise<boolean> {
    const mayCompute = (database: DatabaseId) => this.#mayCompute(database)
    const garbage = this.#store.kv.read(view => nextGarbage(view, this.#removals, mayCompute))
    if (garbage === undefined) return false
    await this.#store.write(transaction =>
      removeGarbage(this.#store, transaction, garbage, batchEnd(this.#batchMs)),
    )
    return true
  }

  async #sweepChanges(): Promise<boolean> {
    const now = this.#removalTime()
    const from = this.#changesFrom
    if (!this.#store.kv.read(view => hasOldChanges(view, now, from))) return false
    const { result } = await this.#store.write(transaction =>
      removeOldChanges(transaction, now, batchEnd(this.#batchMs), from),
    )
    this.#changesFrom = result.last
    return result.hasMore
  }

  /**
   * Runs the checks that are due, until a collection with expired data is found. Removes a batch of the data of this
   * collection. Returns whether any check was due.
   */
  async #sweepExpired(): Promise<boolean> {
    const now = this.#removalTime()
    const { expired, replaced } = this.#runChecks(now)
    if (replaced.length > 0) {
      await this.#store.write(({ rows: { overlay } }) => {
        for (const each of replaced) replaceCheck(overlay, each)
      })
    }
    if (expired === undefined) return replaced.length > 0
    try {
      const { key, marks } = expired
      const { result: count } = await this.#store.write(transaction => {
        // The collection takes turns with other collections whose checks are due.
        replaceCheck(transaction.rows.overlay, { key, checks: [{ due: now, target: collectionOf(expired) }] })
        return this.#remove(transaction, expired)
      })
      this.#unprocessed = { of: nameOf(expired), marks: marks.slice(count) }
      const last = marks[count - 1]
      if (last !== undefined) this.#from.set(nameOf(expired), last.key)
    } catch (error) {
      const later = { due: micros(now + pauseMicros), target: collectionOf(expired) }
      await this.#store.write(({ rows }) => replaceCheck(rows.overlay, { key: expired.key, checks: [later] }))
      throw error
    }
    return true
  }

  #runChecks(now: Micros): {
    readonly replaced: readonly ReplacedCheck[]
    readonly expired: ExpiredCollection | undefined
  } {
    const isOver = batchEnd(this.#batchMs)
    const replaced: ReplacedCheck[] = []
    if (now - this.#startedAt >= pauseMicros) this.#checksFrom = undefined
    if (this.#checksFrom === undefined) this.#startedAt = now
    return this.#store.read(transaction => {
      const found = [...dueChecks(transaction.snapshot.view, now, this.#checksFrom)]
      // When no check is due, the next step reads from the start again, and finds earlier checks that were added.
      this.#checksFrom = found[0]?.key
      for (const { key, target } of found) {
        if (replaced.length > 0 && isOver()) break
        const { collection, database, id } = target
        if (collection === native.databases) {
          const checks = expiringNatives(id).map(ids => nextCheck(transaction, ids))
          replaced.push({ key, checks: checks.filter(check => check !== undefined) })
          continue
        }
        if (!this.#mayCompute(database)) continue
        const ids = { database, collection: Number(id) }
        const minimum = this.#minimumOf(transaction, ids)
        const marks = this.#marksOf(transaction, ids, minimum)
        if (marks.length > 0) return { replaced, expired: { ...ids, key, marks } }
        const next = nextCheck(transaction, ids, minimum)?.due ?? never
        // Another transaction may have added a mark before the processed marks, so the next check reads all marks.
        const latest = this.#from.delete(nameOf(ids)) ? now + pauseMicros : never
        const due = micros(Math.max(Math.min(next, latest), now + retryMicros))
        replaced.push({ key, checks: due < never ? [{ due, target }] : [] })
      }
      return { replaced, expired: undefined }
    }).result
  }

  /** Returns expiry marks of a collection's expired data. */
  #marksOf(
    { catalogue, snapshot }: StoreTransaction,
    ids: CollectionIds,
    minimum: Micros,
  ): readonly ExpiryMark[] {
    const name = nameOf(ids)
    if (this.#unprocessed?.of === name && this.#unprocessed.marks.length > 0) return this.#unprocessed.marks
    if (!catalogue.isLive(ids.database) || !catalogue.hasCollection(ids.database, ids.collection)) return []
    return minimum === 0 ? [] : expiryMarks(snapshot.view, ids, minimum, batchWritesMax, this.#from.get(name))
  }

  #minimumOf(transaction: StoreTransaction, { collection, database }: CollectionIds): Micros {
    const now = Math.min(this.#removalTime(), transaction.snapshotTime)
    return transaction.minimumValidTime(database, collection, now)
  }

  /** Processes expiry marks until the batch is full. Returns how many marks were processed. */
  #remove(transaction: StoreTransaction, expired: ExpiredCollection): number {
    const { catalogue } = transaction
    const { collection, database, marks } = expired
    if (!catalogue.isLive(database) || !catalogue.hasCollection(database, collection)) return marks.length
    const { overlay } = transaction.rows
    const batch = new Batch(batchEnd(this.#batchMs))
    const minimum = this.#minimumOf(transaction, expired)
    const done = new Set<bigint>()
    for (const [at, { key, ref, time }] of marks.entries()) {
      if (batch.isFull()) return at
      // The data may be part of the retained history again if `history_days` was increased after the marks were read.
      if (time > minimum) continue
      if (!done.has(ref.id)) {
        const rows = expiredRows(this.#store, transaction, ref, minimum, batch)
        for (const each of rows.keys) overlay.set(each, undefined)
        if (!rows.isAll) return at
        if (rows.expiresAt !== undefined) markExpiry(overlay, ref, rows.expiresAt)
        done.add(ref.id)
      }
      overlay.set(key, undefined)
      batch.write(1)
    }
    return marks.length
  }

  /**
   * Returns whether bindings of a database may be computed now. During a pause for the database, its expired data is
   * not removed.
   */
  #mayCompute(database: DatabaseId): boolean {
    return this.#batchMs === undefined || this.#store.bindingPauses.waitMs(database) === 0
  }
}

function nameOf({ collection, database }: CollectionIds): string {
  return `${database}/${collection}`
}

/** The checks that are due at `now`, oldest first. */
function dueChecks(view: View, now: Micros, from: Bytes | undefined): Iterable<SweeperWork> {
  // The rows may include the row with the progress of the plan, which is no check.
  const checks = workOf(view, 'history', now, checksPerStep + 1, from)
  return checks.filter(({ key }) => Buffer.compare(key, planProgressKey) !== 0)
}

function replaceCheck(overlay: Overlay, { checks, key }: ReplacedCheck): void {
  overlay.set(key, undefined)
  for (const { due, target } of checks) recordWork(overlay, 'history', due, target)
}
