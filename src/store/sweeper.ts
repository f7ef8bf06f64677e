// Removes what no read can see any more: versions and index rows that fell out of the retained history,
// documents whose ttl and history have both passed, old parts of the change log. It walks the tables in small
// steps, round and round; a step only reads, unless it finds something, which a transaction then removes.
//
// What counts as past is decided by a time that does not leap with the clock (base/removal-time.ts). Reads may be refused
// earlier, by the time of their snapshot; what they may not see any more is still there.

import { assert } from '../base/assert.ts'
import { keyAfter } from '../base/bytes.ts'
import { decodeKey } from '../keys/key-reader.ts'
import { historyRange, type keyTags, tagRange } from '../keys/keyspace.ts'
import type { Entry } from '../kv/contract.ts'
import { type DatabaseId, type Micros, native, type Ref } from '../values/value.ts'
import { batchEnd } from './batch-end.ts'
import { storedVersionsAscending, validAt } from './documents.ts'
import { entryCollection, entrySince, entryUntil } from './entry-records.ts'
import { batchKeysMax, countedRows, nextGarbage, removeGarbage } from './garbage.ts'
import { removeHome } from './key-homes.ts'
import { hasOldChanges, removeOldChanges } from './record-removal.ts'
import { versionAction, versionTime, versionTtl } from './records.ts'
import { readFirst } from './snapshot.ts'
import type { TransactionStore } from './store.ts'
import type { StoreTransaction } from './transaction.ts'

type Table = keyof typeof keyTags

/** The tables walked in turn, each with what decides about one of its rows. */
const walks: readonly { readonly table: Table; readonly sweep: (sweep: Sweep, row: Entry) => void }[] = [
  { table: 'document', sweep: (sweep, row) => sweep.document(row) },
  { table: 'history', sweep: (sweep, row) => sweep.version(row) },
  { table: 'indexEnded', sweep: (sweep, row) => sweep.indexRow(row, entryUntil(row)) },
  { table: 'indexEvent', sweep: (sweep, row) => sweep.indexRow(row, entrySince(row) + 1) },
]

/** Bytes of rows after which a step ends: documents may be so large that fewer than {@link batchKeysMax} fill the memory. */
const batchBytesMax = 4_194_304

export class Sweeper {
  readonly #store: TransactionStore
  readonly #removalTime: () => Micros
  readonly #batchMs: number | undefined
  #walk = 0
  /** Where the current walk goes on; undefined at its start. */
  #position: Uint8Array | undefined

  /**
   * What is past at the time that `removalTime` tells is removed; by default that of the store. With `batchMs` a step ends
   * after so many milliseconds, and databases rest from the bindings of what is removed; absent: nobody is in the way.
   */
  constructor(store: TransactionStore, removalTime: () => Micros = () => store.now(), batchMs?: number) {
    this.#store = store
    this.#batchMs = batchMs
    this.#removalTime = removalTime
  }

  /** Does one step. Returns whether it removed anything. */
  async runOnce(): Promise<boolean> {
    return (await this.#sweepGarbage()) || (await this.#sweepChangeLog()) || (await this.#sweepTable())
  }

  /** A whole round over everything there is. */
  async runAll(): Promise<void> {
    while ((await this.#sweepGarbage()) || (await this.#sweepChangeLog())) {}
    const rounds = walks.length
    for (let ended = 0; ended < rounds; ) {
      await this.#sweepTable()
      if (this.#position === undefined) ended++
    }
  }

  async #sweepGarbage(): Promise<boolean> {
    const mayCompute = (database: DatabaseId) => this.#mayCompute(database)
    const garbage = this.#store.kv.read(view => nextGarbage(view, this.#store.now(), mayCompute))
    if (garbage === undefined) return false
    await this.#store.transact(transaction => removeGarbage(this.#store, transaction, garbage, this.#batchMs))
    return true
  }

  async #sweepChangeLog(): Promise<boolean> {
    const now = this.#removalTime()
    if (!this.#store.kv.read(view => hasOldChanges(view, now))) return false
    await this.#store.transact(transaction => removeOldChanges(transaction, now))
    return true
  }

  async #sweepTable(): Promise<boolean> {
    const walk = this.#walk
    const { table, sweep } = walks[walk] as (typeof walks)[number]
    const { start, end } = tagRange(table)
    const position = this.#position ?? start
    const { rows, isLast } = this.#store.kv.read(view => batchOf(view.range({ start: position, end })))
    const last = rows.at(-1)
    if (last === undefined || isLast) {
      this.#position = undefined
      this.#walk = (walk + 1) % walks.length
    } else {
      this.#position = keyAfter(last.key)
    }
    const now = this.#removalTime()
    const found = this.#store.inspect(transaction =>
      rows.filter(row => this.#judges(transaction, now, sweep, row)),
    )
    if (found.length === 0) return false
    const { result: isCut } = await this.#store.transact(transaction => {
      const run = new Sweep(transaction, now)
      const { overlay } = transaction.internals().context
      for (const { key } of found) {
        const value = overlay.get(key)
        if (value !== undefined) sweep(run, { key, value })
      }
      for (const key of run.removed) overlay.set(key, undefined)
      return this.#removeExpired(transaction, run.expired)
    })
    if (isCut) {
      this.#walk = walk
      this.#position = position
    }
    return true
  }

  #judges(
    transaction: StoreTransaction,
    now: Micros,
    sweep: (sweep: Sweep, row: Entry) => void,
    row: Entry,
  ): boolean {
    const run = new Sweep(transaction, now)
    sweep(run, row)
    return run.removed.length > 0 || run.expired.some(({ database }) => this.#mayCompute(database))
  }

  /** A database rests from its bindings; what is left over comes with the next round. */
  #mayCompute(database: DatabaseId): boolean {
    return this.#batchMs === undefined || this.#store.bindingShare.restMs(database) === 0
  }

  /** Removes documents with all that was derived from them. Returns whether the time of a step was over before the last. */
  #removeExpired(transaction: StoreTransaction, expired: readonly Ref[]): boolean {
    const isOver = batchEnd(this.#batchMs)
    const { overlay, snapshot } = transaction.internals().context
    for (const [removed, ref] of expired.entries()) {
      if (removed > 0 && isOver()) return true
      const versions = Array.from(storedVersionsAscending(snapshot, ref), stored =>
        transaction.reader.read(ref, stored),
      )
      for (const { key } of countedRows(this.#store, transaction, ref, versions)) overlay.set(key, undefined)
      if (ref.collection === native.keys) removeHome(overlay, ref)
    }
    return false
  }
}

/** The rows of one step, and whether they are the last. */
function batchOf(table: Iterable<Entry>): { readonly rows: readonly Entry[]; readonly isLast: boolean } {
  const rows: Entry[] = []
  let bytes = 0
  for (const row of table) {
    if (rows.length >= batchKeysMax || bytes >= batchBytesMax) return { rows, isLast: false }
    rows.push(row)
    bytes += row.value.length
  }
  return { rows, isLast: true }
}

/** Decides what to remove in one state. */
class Sweep {
  readonly removed: Uint8Array[] = []
  /** Documents that go with all that was derived from them. */
  readonly expired: Ref[] = []
  readonly #transaction: StoreTransaction
  readonly #now: Micros

  constructor(transaction: StoreTransaction, removalTime: Micros) {
    this.#transaction = transaction
    this.#now = Math.min(removalTime, transaction.snapshotTime)
  }

  #minimumOf(ref: Pick<Ref, 'database' | 'collection'>): Micros {
    return this.#transaction.minimumValidTime(ref.database, ref.collection, this.#now)
  }

  /** Rows of what was deleted as a whole are removed as garbage. */
  #isReachable(ref: Pick<Ref, 'database' | 'collection'>): boolean {
    const { catalogue } = this.#transaction
    return catalogue.isLive(ref.database) && catalogue.hasCollection(ref.database, ref.collection)
  }

  /** A live document goes, with all that was derived from it, when its ttl lies below the retained history. */
  document({ key, value }: Entry): void {
    const ttl = versionTtl(value)
    const ref = documentOf(key)
    if (ttl > this.#now || !this.#isReachable(ref)) return
    if (Math.max(ttl, versionTime(value)) <= this.#minimumOf(ref)) this.expired.push(ref)
  }

  /**
   * A version goes when the one after it was valid already at the minimum valid time. A delete goes when it was
   * valid then and nothing is left before it: until then it hides what is.
   */
  version({ key, value }: Entry): void {
    const ref = documentOf(key)
    if (!this.#isReachable(ref)) return
    const { snapshot } = this.#transaction
    const minimum = this.#minimumOf(ref)
    const ts = versionTime(value)
    if (ts > minimum) return
    const root = validAt(snapshot, ref, minimum)
    if (root === undefined) return
    const isSuperseded = versionTime(root) > ts
    const isOldest = () => readFirst(snapshot, historyRange(ref, ts - 1)) === undefined
    if (isSuperseded || (versionAction(value) === 'delete' && isOldest())) this.removed.push(key)
  }

  /** A row of an index goes when nothing it says reaches up to the minimum valid time. */
  indexRow({ key }: Entry, until: Micros): void {
    const place = { database: databaseOf(key), collection: entryCollection({ key }) }
    if (!this.#transaction.catalogue.isLive(place.database)) return
    const isGone = !this.#transaction.catalogue.hasCollection(place.database, place.collection)
    if (isGone || until <= this.#minimumOf(place)) this.removed.push(key)
  }
}

/** The document in the key of a version. */
function documentOf(key: Uint8Array): Ref {
  const decoded = decodeKey(key)
  assert(decoded.kind === 'document' || decoded.kind === 'history', 'versions stand under documents')
  return decoded.ref
}

/** The database in the key of an index's row. */
function databaseOf(key: Uint8Array): DatabaseId {
  const decoded = decodeKey(key)
  assert('database' in decoded, 'rows of indexes belong to a database')
  return decoded.database
}
