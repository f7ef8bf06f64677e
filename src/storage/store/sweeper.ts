// Removes data that can no longer be read, in order of expiry: the data of deleted schema objects, old parts of the
// change record (removals.ts), and for each collection the expired history (due-order.ts). Each step is short, and its
// cost depends on the removed data, not on the remaining data.
//
// Expiry is determined by a time that does not jump when the clock is set (base/removal-time.ts). Reads may be rejected
// earlier, by the time of their snapshot, although the data still exists.

import { type DatabaseId, type Micros, native, type Ref, rootDatabase } from '../../values/value.ts'
import { Batch, batchEnd, batchWritesMax } from './batch.ts'
import { scanDocuments } from './documents.ts'
import { fileBatch } from './due-filing.ts'
import { type DueMark, dueMarks, firstDue, markDue, nativePlaces } from './due-order.ts'
import { expiredRows, hasOldChanges, nextGarbage, removeGarbage, removeOldChanges } from './removals.ts'
import { expiresAt } from './retention.ts'
import type { Store } from './store.ts'
import type { CollectionPlace } from './store-contract.ts'
import { workOf } from './sweeper-work.ts'
import type { StoreTransaction } from './transaction.ts'

// Schedules when each collection is checked for expired data. A new collection is checked at once, to find its first
// due mark; the next check is at the time of that mark. Data written after a check expires later than any data that
// existed at the check. So a check that finds no mark can also determine the time of the next check.

/** A collection that is checked when the removal time reaches `at`, in microseconds. */
interface DueCheck extends CollectionPlace {
  readonly at: number
  /** Marks that were read but not processed yet. */
  readonly marks: readonly DueMark[]
}

const noMarks: readonly DueMark[] = []

/** The next check of each collection. */
class CheckSchedule {
  readonly #checks = new Map<string, DueCheck>()
  /** No check outside of `#ready` is due before this time. */
  #earliest = Number.POSITIVE_INFINITY
  #ready: DueCheck[] = []

  /**
   * Schedules the next check of a collection, and replaces the previous schedule. `at` 0 means at once; infinity means no
   * check until the next call.
   */
  plan({ collection, database }: CollectionPlace, at: number, marks: readonly DueMark[] = noMarks): void {
    const check = { database, collection, at, marks }
    if (at === Number.POSITIVE_INFINITY) this.#checks.delete(nameOf(check))
    else this.#checks.set(nameOf(check), check)
    // Added directly to the ready checks, because each new collection is checked at once, and {@link #collect} scans
    // all collections.
    if (at === 0) this.#ready.push(check)
    else this.#earliest = Math.min(this.#earliest, at)
  }

  /** Returns a due check that `isWanted` accepts, if any. Schedule its collection again before the next call. */
  next(now: number, isWanted: (check: DueCheck) => boolean): DueCheck | undefined {
    if (this.#ready.length === 0 && this.#earliest <= now) this.#collect(now)
    for (let check = this.#ready.pop(); check !== undefined; check = this.#ready.pop()) {
      if (this.#checks.get(nameOf(check)) !== check) continue
      if (isWanted(check)) return check
      this.#earliest = Math.min(this.#earliest, check.at)
    }
    return undefined
  }

  #collect(now: number): void {
    this.#earliest = Number.POSITIVE_INFINITY
    for (const check of this.#checks.values()) {
      if (check.at <= now) this.#ready.push(check)
      this.#earliest = Math.min(this.#earliest, check.at)
    }
  }
}

function nameOf({ collection, database }: CollectionPlace): string {
  return `${database}/${collection}`
}

/** Maximum number of collections, and of databases, that are checked in one step. */
const checksPerStep = 256
/** Microseconds for which a collection that cannot be swept is skipped. */
const pauseMicros = 60_000_000

export class Sweeper {
  readonly #store: Store
  readonly #removalTime: () => Micros
  readonly #batchMs: number | undefined
  #checks = new CheckSchedule()
  /** Databases whose collections have not been listed yet since the start. */
  #unknown: DatabaseId[] = [rootDatabase]
  /** True when all data of older directories has its marks. */
  #isFiled = false

  /**
   * `removalTime`: returns the time that determines which data has expired; by default the time of the store.
   * `batchMs`: a step ends after this number of milliseconds, and databases pause after the bindings of removed data;
   * absent: a step has no time limit.
   */
  constructor(store: Store, removalTime: () => Micros = () => store.now(), batchMs?: number) {
    this.#store = store
    this.#batchMs = batchMs
    this.#removalTime = removalTime
  }

  /** Runs one step of each kind of work. Returns whether there is more to do at once. */
  async runOnce(): Promise<boolean> {
    const steps = [
      await this.#sweepGarbage(),
      await this.#sweepChanges(),
      await this.#scheduleRedefined(),
      this.#discover(),
      await this.#sweepDue(),
      await this.#file(),
    ]
    return steps.includes(true)
  }

  /** Removes all expired data. */
  async runAll(): Promise<void> {
    while (await this.runOnce()) {}
  }

  /** Drops the state in memory, because another process may have done this work in the meantime. */
  forget(): void {
    this.#checks = new CheckSchedule()
    this.#unknown = [rootDatabase]
    this.#isFiled = false
  }

  async #sweepGarbage(): Promise<boolean> {
    const mayCompute = (database: DatabaseId) => this.#mayCompute(database)
    const garbage = this.#store.kv.read(view => nextGarbage(view, this.#store.now(), mayCompute))
    if (garbage === undefined) return false
    await this.#store.write(transaction =>
      removeGarbage(this.#store, transaction, garbage, batchEnd(this.#batchMs)),
    )
    return true
  }

  async #sweepChanges(): Promise<boolean> {
    const now = this.#removalTime()
    if (!this.#store.kv.read(view => hasOldChanges(view, now))) return false
    const { result } = await this.#store.write(transaction => removeOldChanges(transaction, now))
    return result
  }

  /** New collections, and collections with another length of history, are checked again. */
  async #scheduleRedefined(): Promise<boolean> {
    const found = this.#store.kv.read(view => [...workOf(view, 'history', this.#store.now(), batchWritesMax)])
    if (found.length === 0) return false
    await this.#store.write(({ rows: { overlay } }) => {
      for (const { key } of found) overlay.set(key, undefined)
    })
    for (const { target } of found) this.#scheduleCheck(target)
    return found.length === batchWritesMax
  }

  /** Schedules a check of the collection of a schema object, or of the native collections of a database. */
  #scheduleCheck({ collection, database, id }: Ref): void {
    if (collection !== native.databases) this.#checks.plan({ database, collection: Number(id) }, 0)
    else for (const place of nativePlaces(id)) this.#checks.plan(place, 0)
  }

  /** Lists the collections of some databases. */
  #discover(): boolean {
    for (let count = 0; count < checksPerStep; count++) {
      const database = this.#unknown.pop()
      if (database === undefined) return false
      const objectsOf = (collection: number) =>
        this.#store.read(({ snapshot }) =>
          Array.from(scanDocuments(snapshot, database, collection), entry => entry.document),
        ).result
      for (const place of nativePlaces(database)) this.#checks.plan(place, 0)
      for (const ref of objectsOf(native.collections)) this.#scheduleCheck(ref)
      this.#unknown.push(...objectsOf(native.databases).map(({ id }) => id))
    }
    return true
  }

  async #sweepDue(): Promise<boolean> {
    for (let checked = 0; checked < checksPerStep; checked++) {
      const check = this.#checks.next(this.#removalTime(), ({ database }) => this.#mayCompute(database))
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

  /** Removes a batch of expired data of a collection, and schedules its next check. Returns whether there was any. */
  async #sweepCollection(check: DueCheck): Promise<boolean> {
    const marks = check.marks.length > 0 ? check.marks : this.#readMarks(check)
    if (marks.length === 0) return false
    const followed = await this.#store.write(transaction => this.#follow(transaction, { ...check, marks }))
    this.#checks.plan(check, 0, marks.slice(followed.result))
    return true
  }

  /** Reads the due marks of a collection. If it has none, schedules the next check. */
  #readMarks(place: CollectionPlace): DueCheck['marks'] {
    return this.#store.read(transaction => {
      const { snapshot } = transaction
      const minimum = this.#minimumOf(transaction, place)
      const marks = minimum === 0 ? [] : dueMarks(snapshot.view, place, minimum, batchWritesMax)
      if (marks.length === 0) this.#checks.plan(place, this.#nextCheck(transaction, place))
      return marks
    }).result
  }

  #minimumOf(transaction: StoreTransaction, { collection, database }: CollectionPlace): Micros {
    const now = Math.min(this.#removalTime(), transaction.snapshotTime)
    return transaction.minimumValidTime(database, collection, now)
  }

  #nextCheck(transaction: StoreTransaction, place: CollectionPlace): number {
    const { collection, database } = place
    const { catalogue, snapshot, snapshotTime } = transaction
    if (!catalogue.isLive(database) || !catalogue.hasCollection(database, collection))
      return Number.POSITIVE_INFINITY
    const definition = catalogue.userCollection(database, collection)
    // All later commits have later times than the snapshot.
    const first = Math.min(firstDue(snapshot.view, place) ?? snapshotTime, snapshotTime)
    return expiresAt(collection, definition, first)
  }

  /** Processes marks until a batch is full; returns their number. */
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
      // The collection may keep a longer history than when the marks were read.
      if (time > minimum) continue
      if (!done.has(ref.id)) {
        const expired = expiredRows(this.#store, transaction, ref, minimum)
        for (const each of expired.keys) overlay.set(each, undefined)
        batch.write(expired.keys.length, expired.bytes)
        if (!expired.isAll) return at
        if (expired.expiresAt !== undefined) markDue(overlay, ref, expired.expiresAt)
        done.add(ref.id)
      }
      overlay.set(key, undefined)
      batch.write(1)
    }
    return check.marks.length
  }

  async #file(): Promise<boolean> {
    if (this.#isFiled) return false
    this.#isFiled = !(await fileBatch(this.#store, this.#removalTime(), batchEnd(this.#batchMs)))
    return !this.#isFiled
  }

  /**
   * Returns whether bindings of a database may be computed now. A database pauses after its bindings; the rest is
   * removed later.
   */
  #mayCompute(database: DatabaseId): boolean {
    return this.#batchMs === undefined || this.#store.bindingPauses.waitMs(database) === 0
  }
}
