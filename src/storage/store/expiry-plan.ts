// Plans when the sweeper (sweeper.ts) checks collections for expired data. A collection with data that will expire has
// a row of pending work (sweeper-work.ts), which is due when its first expiry mark (expiry-marks.ts) expires. The rows
// are stored, so neither a start nor an idle service reads collections without work, however many there are.
//
// New marks are found in the change log, which lists the collections that each transaction changed. One more row
// contains the time up to which the change log was read: each mark of a transaction up to this time has a row of
// pending work. Data directories of version 0.2 have no such row, so all collections are listed once. The row is a row
// of pending work itself. Version 0.2 removes all rows of pending work, so the collections are listed again after a
// return to it.

import { epoch, micros } from '../../base/micros.ts'
import { upsert } from '../../base/upsert.ts'
import { collectionOf, type DatabaseId, type Micros, native, Ref, rootDatabase } from '../../values/value.ts'
import { timeOf } from '../keys/key-times.ts'
import { changesRange, garbageKey } from '../keys/keyspace.ts'
import { batchEnd } from './batch.ts'
import { changedCollections } from './change-log.ts'
import { scanDocuments } from './documents.ts'
import { earliestMark, expiringNatives, mayExpire } from './expiry-marks.ts'
import { decodeTime, encodeTimes, never } from './records.ts'
import { expiresAt } from './retention.ts'
import type { Store } from './store.ts'
import type { CollectionIds } from './store-contract.ts'
import { recordWork } from './sweeper-work.ts'
import type { StoreTransaction } from './transaction.ts'

/** Maximum number of rows that one step reads: rows of the change log, or schema objects. */
const rowsPerStep = 256
const collectionsPerStep = 256
/** The time is stored at the latest after this number of rows of the change log. */
const unstoredRowsMax = 4096

/**
 * The key of the row with the time up to which the change log was read. The row sorts before all other rows of pending
 * work of its kind, and names a collection that cannot exist.
 */
export const planProgressKey: Uint8Array = garbageKey(
  'history',
  epoch,
  new Ref(rootDatabase, native.collections, 0n),
)

/** A check of a collection, or of the native collections of a database, that is due at `due`. */
export interface PlannedCheck {
  readonly due: Micros
  readonly target: Ref
}

/**
 * Returns the check of a collection that is due when its first expiry mark, or its first mark after `after`, expires;
 * undefined without such a mark.
 */
export function nextCheck(
  transaction: StoreTransaction,
  ids: CollectionIds,
  after?: Micros,
): PlannedCheck | undefined {
  const { collection, database } = ids
  const { catalogue, snapshot } = transaction
  if (!catalogue.isLive(database) || !catalogue.hasCollection(database, collection)) return undefined
  const first = earliestMark(snapshot.view, ids, after)
  if (first === undefined) return undefined
  const due = Math.ceil(expiresAt(collection, catalogue.userCollection(database, collection), first))
  return due < never ? { due: micros(due), target: collectionOf(ids) } : undefined
}

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

/** A collection whose next check must be planned. */
interface UnplannedCollection extends CollectionIds {
  /** The time of the first change that is not planned yet; absent if no marks of the collection are planned. */
  readonly since?: Micros
}

interface PlanState {
  /**
   * The time up to which the change log was read. If `collections` and `listings` are empty, all earlier marks are
   * planned.
   */
  read: Micros
  /** True if the store contains a value of `read`. */
  isStored: boolean
  /** The number of rows of the change log that were read since `read` was stored. */
  unstoredRows: number
  readonly collections: UnplannedCollection[]
  /** The listings that are not complete. The last listing continues first. */
  readonly listings: Listing[]
}

export class ExpiryPlan {
  readonly #store: Store
  readonly #batchMs: number | undefined
  /** Undefined before the first step, and after a failure. */
  #state: PlanState | undefined

  /** `batchMs`: the time limit of a step in milliseconds; undefined for no limit. */
  constructor(store: Store, batchMs: number | undefined) {
    this.#store = store
    this.#batchMs = batchMs
  }

  /** Drops the state in memory, so that the next step reads the stored time. */
  forget(): void {
    this.#state = undefined
  }

  /** Plans the checks of some collections. Returns whether there may be more collections to plan now. */
  async step(): Promise<boolean> {
    const state = this.#state ?? this.#load()
    this.#state = undefined
    const isMore = state.collections.length === 0 && this.#findCollections(state)
    const checks = this.#missingChecks(state.collections)
    const isComplete = state.collections.length === 0 && state.listings.length === 0
    const isDue = isComplete && (!state.isStored || state.unstoredRows > unstoredRowsMax)
    if (checks.length > 0 || isDue) {
      await this.#store.write(({ rows: { overlay } }) => {
        for (const { due, target } of checks) recordWork(overlay, 'history', due, target)
        if (isComplete) overlay.set(planProgressKey, encodeTimes(state.read))
      })
      if (isComplete) Object.assign(state, { isStored: true, unstoredRows: 0 })
    }
    this.#state = state
    return isMore || !isComplete
  }

  #load(): PlanState {
    return this.#store.read(({ lastCommitTime, snapshot }) => {
      const stored = snapshot.view.get(planProgressKey)
      return {
        read: stored === undefined ? lastCommitTime : decodeTime(stored),
        isStored: stored !== undefined,
        unstoredRows: 0,
        collections: [],
        listings: stored === undefined ? listingsOf(rootDatabase) : [],
      }
    }).result
  }

  /** Adds collections that need a check to the state. Returns whether there may be more. */
  #findCollections(state: PlanState): boolean {
    if (state.listings.length === 0) return this.#readLog(state)
    this.#list(state)
    return true
  }

  #readLog(state: PlanState): boolean {
    return this.#store.read(({ snapshot: { view } }) => {
      const found = new Map<string, UnplannedCollection>()
      let rows = 0
      for (const row of view.range({ ...changesRange(state.read), limit: rowsPerStep })) {
        rows++
        const since = timeOf(row.key)
        state.read = since
        for (const ids of changedCollections(row))
          if (mayExpire(ids.collection))
            upsert(found, `${ids.database}/${ids.collection}`, () => ({ ...ids, since }))
      }
      state.collections.push(...found.values())
      state.unstoredRows += rows
      return rows === rowsPerStep
    }).result
  }

  /** Lists the next schema objects. Adds all collections among them to `collections`. */
  #list({ listings, collections }: PlanState): void {
    const isOver = batchEnd(this.#batchMs)
    let count = 0
    const isFull = () => count > 1 && (count >= rowsPerStep || isOver())
    this.#store.read(({ snapshot }) => {
      while (!isFull()) {
        const listing = listings.pop()
        if (listing === undefined) return
        const { database, first, kind } = listing
        const children: Listing[] = []
        count++
        if (kind === native.collections && first === 0n) collections.push(...expiringNatives(database))
        const from = { values: [], document: new Ref(database, kind, first), side: 'low' } as const
        for (const { document } of scanDocuments(snapshot, database, kind, { from })) {
          if (isFull()) {
            listings.push({ ...listing, first: document.id })
            break
          }
          count++
          if (kind === native.collections) collections.push({ database, collection: Number(document.id) })
          else children.push(...listingsOf(document.id))
        }
        listings.push(...children)
      }
    })
  }

  /** Takes collections from the end of `collections`, and returns their next checks without a row of pending work. */
  #missingChecks(collections: UnplannedCollection[]): PlannedCheck[] {
    const isOver = batchEnd(this.#batchMs)
    return this.#store.read(transaction => {
      const missing: PlannedCheck[] = []
      for (let count = 0; count < collectionsPerStep && (count === 0 || !isOver()); count++) {
        const unplanned = collections.pop()
        if (unplanned === undefined) break
        // The marks of a change are not earlier than the change. Earlier marks are planned, or being processed.
        const { collection, database, since } = unplanned
        const minimum = transaction.minimumValidTime(database, collection)
        const after = since === undefined ? undefined : micros(Math.min(minimum, since - 1))
        const check = nextCheck(transaction, unplanned, after)
        if (check === undefined) continue
        const key = garbageKey('history', check.due, check.target)
        if (transaction.snapshot.view.get(key) === undefined) missing.push(check)
      }
      return missing
    }).result
  }
}
