// Removes data that can no longer be read: the data of deleted databases, collections and indexes, old rows of the
// change record and the change log (change-log.ts), and the expired history of each collection (due-order.ts). Each
// step is short, and its cost depends on the removed data, not on the remaining data.
//
// For the sweeper, the removal time determines which data has expired (base/removal-time.ts). The removal time does not
// jump when the clock is set. For a read, the time of its snapshot determines which data has expired. If the snapshot
// time is later than the removal time, a read may be rejected although its data still exists.

import { Heap } from '../../base/heap.ts'
import { upsert } from '../../base/upsert.ts'
import {
  type CollectionId,
  type DatabaseId,
  type Micros,
  native,
  Ref,
  rootDatabase,
} from '../../values/value.ts'
import type { Bytes } from '../kv/kv-contract.ts'
import { Batch, batchEnd, batchWritesMax } from './batch.ts'
import { scanDocuments } from './documents.ts'
import { type DueMark, dueMarks, firstDue, markDue, nativePlaces } from './due-order.ts'
import { expiredRows } from './expired-rows.ts'
import { hasOldChanges, removeOldChanges } from './old-changes.ts'
import { nextGarbage, removeGarbage } from './removals.ts'
import { expiresAt } from './retention.ts'
import type { Store } from './store.ts'
import type { CollectionPlace, EntryScan } from './store-contract.ts'
import { WorkCursor } from './sweeper-work.ts'
import type { StoreTransaction } from './transaction.ts'

// Each collection has a scheduled check for expired data. A new collection is checked at once, to find its first due
// mark (due-order.ts), which points to data that has expired or will expire. The next check is due when the data of
// this mark expires. If a check finds no mark, only data that is written after the check can expire. The next check is
// then due at the earliest time at which such data can expire.

/** `at`: the check is due when the removal time reaches this time (microseconds). */
interface DueCheck extends CollectionPlace {
  readonly at: number
  /** Due marks that were read but not processed yet. */
  readonly marks: readonly DueMark[]
  /**
   * The last mark that was processed. The next marks are read from there, because a read from the start would skip all
   * removed marks which LMDB still contains.
   */
  readonly from: Bytes | undefined
}

const noMarks: readonly DueMark[] = []

class CheckSchedule {
  readonly #checks = new Map<string, DueCheck>()
  /** The checks of `#checks`, ordered by `at`, and cancelled checks. */
  #order = newOrder()
  /** Due checks of databases whose bindings may not be computed now. */
  readonly #postponed = new Map<DatabaseId, DueCheck[]>()

  /**
   * Cancels the previous check of the collection. If `at` is 0, the check is due at once. If `at` is infinity, no check
   * is scheduled.
   */
  plan(
    { collection, database }: CollectionPlace,
    at: number,
    { from, marks }: Pick<DueCheck, 'from' | 'marks'> = { from: undefined, marks: noMarks },
  ): void {
    const check = { database, collection, at, marks, from }
    if (at === Number.POSITIVE_INFINITY) {
      this.#checks.delete(nameOf(check))
      return
    }
    this.#checks.set(nameOf(check), check)
    this.#order.push(check)
    if (this.#order.size > 2 * this.#checks.size + cancelledMin) this.#removeCancelled()
  }

  /**
   * A due check of a database that `isWanted` accepts. The caller must schedule the collection again before the next
   * call.
   */
  next(now: number, isWanted: (database: DatabaseId) => boolean): DueCheck | undefined {
    for (const [database, checks] of this.#postponed) {
      if (!isWanted(database)) continue
      this.#postponed.delete(database)
      for (const check of checks) this.#order.push(check)
    }
    for (let check = this.#order.peek(); check !== undefined && check.at <= now; check = this.#order.peek()) {
      this.#order.pop()
      if (this.#checks.get(nameOf(check)) !== check) continue
      if (isWanted(check.database)) return check
      upsert(this.#postponed, check.database, () => []).push(check)
    }
    return undefined
  }

  #removeCancelled(): void {
    this.#order = newOrder()
    for (const check of this.#checks.values()) this.#order.push(check)
    this.#postponed.clear()
  }
}

/** Cancelled checks are removed if there are more of them than of other checks, but at least this number. */
const cancelledMin = 1024

function newOrder(): Heap<DueCheck> {
  return new Heap((left, right) => left.at - right.at)
}

function nameOf({ collection, database }: CollectionPlace): string {
  return `${database}/${collection}`
}

/** Maximum number of collections that one step checks. Also the maximum number of schema objects that one step lists. */
const checksPerStep = 256

/** A listing of the collections or of the child databases of a database, beginning with the id `first`. */
interface Listing {
  readonly database: DatabaseId
  readonly kind: typeof native.collections | typeof native.databases
  readonly first: bigint
}

function listingsOf(database: DatabaseId): Listing[] {
  return [
    { database, kind: native.databases, first: 0n },
    { database, kind: native.collections, first: 0n },
  ]
}

/** Time until the next check of a collection after its sweep has failed or removed much, in microseconds. */
const pauseMicros = 60_000_000

function startingAt(database: DatabaseId, kind: CollectionId, id: bigint): EntryScan {
  return { from: { values: [], document: new Ref(database, kind, id), side: 'low' } }
}

export class Sweeper {
  readonly #store: Store
  readonly #removalTime: () => Micros
  readonly #batchMs: number | undefined
  #checks = new CheckSchedule()
  /** The listings of schema objects that are not complete. The last listing continues first. */
  #unlisted: Listing[] = listingsOf(rootDatabase)
  readonly #deleted = new WorkCursor('object')
  readonly #redefined = new WorkCursor('history')
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
  }

  /** Returns whether there may be more work to do now. */
  async runOnce(): Promise<boolean> {
    const steps = [
      await this.#sweepGarbage(),
      await this.#sweepChanges(),
      await this.#scheduleRedefined(),
      this.#discover(),
      await this.#sweepDue(),
    ]
    return steps.includes(true)
  }

  async runAll(): Promise<void> {
    while (await this.runOnce()) {}
  }

  /** Called while another process may remove data, which makes the state in memory outdated. */
  forget(): void {
    this.#checks = new CheckSchedule()
    this.#unlisted = listingsOf(rootDatabase)
    this.#changesFrom = undefined
    for (const work of [this.#deleted, this.#redefined]) work.reset()
  }

  async #sweepGarbage(): Promise<boolean> {
    const mayCompute = (database: DatabaseId) => this.#mayCompute(database)
    const garbage = this.#store.kv.read(view => nextGarbage(view, this.#deleted, mayCompute))
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

  /** Schedules a check of each collection that is new or was redefined, because its `history_days` may have changed. */
  async #scheduleRedefined(): Promise<boolean> {
    const found = this.#store.kv.read(view => this.#redefined.read(view, batchWritesMax))
    if (found.length === 0) return false
    await this.#store.write(({ rows: { overlay } }) => {
      for (const { key } of found) overlay.set(key, undefined)
    })
    for (const { target } of found) this.#scheduleCheck(target)
    return found.length === batchWritesMax
  }

  /** Schedules a check of a collection, or of the native (built-in) collections of a database. */
  #scheduleCheck({ collection, database, id }: Ref): void {
    if (collection !== native.databases) this.#checks.plan({ database, collection: Number(id) }, 0)
    else for (const place of nativePlaces(id)) this.#checks.plan(place, 0)
  }

  /**
   * Lists the next schema objects, and schedules checks of the collections among them. Returns whether there may be
   * more.
   */
  #discover(): boolean {
    const isOver = batchEnd(this.#batchMs)
    let count = 0
    const isFull = () => count > 1 && (count >= checksPerStep || isOver())
    return this.#store.read(({ snapshot }) => {
      while (!isFull()) {
        const listing = this.#unlisted.pop()
        if (listing === undefined) return false
        const { database, first, kind } = listing
        const children: Listing[] = []
        count++
        if (kind === native.collections && first === 0n)
          for (const place of nativePlaces(database)) this.#checks.plan(place, 0)
        for (const { document } of scanDocuments(
          snapshot,
          database,
          kind,
          startingAt(database, kind, first),
        )) {
          if (isFull()) {
            this.#unlisted.push({ ...listing, first: document.id })
            break
          }
          count++
          if (kind === native.collections) this.#scheduleCheck(document)
          else children.push(...listingsOf(document.id))
        }
        this.#unlisted.push(...children)
      }
      return true
    }).result
  }

  async #sweepDue(): Promise<boolean> {
    const isOver = batchEnd(this.#batchMs)
    for (let checked = 0; checked < checksPerStep && (checked === 0 || !isOver()); checked++) {
      const check = this.#checks.next(this.#removalTime(), database => this.#mayCompute(database))
      if (check === undefined) return false
      try {
        if (await this.#sweepCollection(check)) return true
      } catch (error) {
        this.#checks.plan(check, this.#removalTime() + pauseMicros)
        throw error
      }
    }
    return true
  }

  /**
   * Removes a batch of expired data, and schedules the next check of the collection. Returns whether there were due
   * marks.
   */
  async #sweepCollection(check: DueCheck): Promise<boolean> {
    const marks = check.marks.length > 0 ? check.marks : this.#readMarks(check)
    if (marks.length === 0) return false
    const { result: count } = await this.#store.write(transaction =>
      this.#follow(transaction, { ...check, marks }),
    )
    const from = marks[count - 1]?.key ?? check.from
    this.#checks.plan(check, 0, { marks: marks.slice(count), from })
    return true
  }

  /** If no data has expired, schedules the next check of the collection. */
  #readMarks(check: DueCheck): DueCheck['marks'] {
    return this.#store.read(transaction => {
      const { view } = transaction.snapshot
      const minimum = this.#minimumOf(transaction, check)
      const marks = minimum === 0 ? [] : dueMarks(view, check, minimum, batchWritesMax, check.from)
      if (marks.length > 0) return marks
      // Another transaction may have added a mark before `from`, so the next check begins at the first mark again.
      const latest = check.from === undefined ? Number.POSITIVE_INFINITY : this.#removalTime() + pauseMicros
      this.#checks.plan(check, Math.min(this.#nextCheck(transaction, check, minimum), latest))
      return marks
    }).result
  }

  #minimumOf(transaction: StoreTransaction, { collection, database }: CollectionPlace): Micros {
    const now = Math.min(this.#removalTime(), transaction.snapshotTime)
    return transaction.minimumValidTime(database, collection, now)
  }

  #nextCheck(transaction: StoreTransaction, place: CollectionPlace, minimum: Micros): number {
    const { collection, database } = place
    const { catalogue, snapshot, snapshotTime } = transaction
    if (!catalogue.isLive(database) || !catalogue.hasCollection(database, collection))
      return Number.POSITIVE_INFINITY
    const definition = catalogue.userCollection(database, collection)
    // Without a mark, the earliest possible mark has the time of the snapshot, because later commits have later times.
    const first = Math.min(firstDue(snapshot.view, place, minimum) ?? snapshotTime, snapshotTime)
    return expiresAt(collection, definition, first)
  }

  /** Processes due marks until the batch is full. Returns how many marks were processed. */
  #follow(transaction: StoreTransaction, check: DueCheck): number {
    const { catalogue } = transaction
    if (!catalogue.isLive(check.database) || !catalogue.hasCollection(check.database, check.collection))
      return check.marks.length
    const { overlay } = transaction.rows
    const batch = new Batch(batchEnd(this.#batchMs))
    const minimum = this.#minimumOf(transaction, check)
    const done = new Set<bigint>()
    for (const [at, { key, ref, time }] of check.marks.entries()) {
      if (batch.isFull()) return at
      // The data may be part of the retained history again if `history_days` was increased after the marks were read.
      if (time > minimum) continue
      if (!done.has(ref.id)) {
        const expired = expiredRows(this.#store, transaction, ref, minimum, batch)
        for (const each of expired.keys) overlay.set(each, undefined)
        if (!expired.isAll) return at
        if (expired.expiresAt !== undefined) markDue(overlay, ref, expired.expiresAt)
        done.add(ref.id)
      }
      overlay.set(key, undefined)
      batch.write(1)
    }
    return check.marks.length
  }

  /** During a pause for the database, its expired data is not removed. */
  #mayCompute(database: DatabaseId): boolean {
    return this.#batchMs === undefined || this.#store.bindingPauses.waitMs(database) === 0
  }
}
