// A reading transaction that looks at an earlier moment than its snapshot, for predicates that decide about events of
// that moment: what has been committed since must not count. Schemas are the present ones: what matters of them for
// rights (roles, databases) ends the stream when it changes.

import {
  type Catalogue,
  type CommittedTransaction,
  type EntryChange,
  type EntryScan,
  type EventScan,
  type IndexDefinition,
  type IndexEntry,
  type IndexEvent,
  NoWrites,
  type Transaction,
  type TransactionCounters,
  type Version,
} from '../store/contract.ts'
import type { CollectionId, DatabaseId, Micros, Ref, Value } from '../values/value.ts'

/** `transaction` as of the commit at `time`; itself when that is the newest one it sees. */
export function asOf(transaction: Transaction, time: Micros): Transaction {
  return time >= transaction.lastCommitTime ? transaction : new PastTransaction(transaction, time)
}

class PastTransaction extends NoWrites implements Transaction {
  readonly snapshotTime: Micros
  readonly lastCommitTime: Micros
  readonly settledTime: Micros
  readonly commitTime = undefined
  readonly writable = false
  readonly #present: Transaction

  constructor(present: Transaction, time: Micros) {
    super()
    this.#present = present
    this.snapshotTime = time
    this.lastCommitTime = time
    this.settledTime = time
  }

  get catalogue(): Catalogue {
    return this.#present.catalogue
  }

  get counters(): TransactionCounters {
    return this.#present.counters
  }

  rehearsal(): Transaction {
    return this.#present.rehearsal()
  }

  get(ref: Ref, at: Micros = this.snapshotTime): Version | undefined {
    return this.#present.get(ref, Math.min(at, this.snapshotTime))
  }

  *versions(ref: Ref, options?: { readonly reverse?: boolean }): Generator<Version> {
    for (const version of this.#present.versions(ref, options)) {
      if (typeof version.ts === 'number' && version.ts <= this.snapshotTime) yield version
    }
  }

  match(index: IndexDefinition, terms: readonly Value[], scan: EntryScan): Iterable<IndexEntry> {
    return this.#present.match(index, terms, this.#bounded(scan))
  }

  documents(database: DatabaseId, collection: CollectionId, scan: EntryScan): Iterable<IndexEntry> {
    return this.#present.documents(database, collection, this.#bounded(scan))
  }

  #bounded(scan: EntryScan): EntryScan {
    return { ...scan, at: Math.min(scan.at ?? this.snapshotTime, this.snapshotTime) }
  }

  matchEvents(index: IndexDefinition, terms: readonly Value[], scan: EventScan): Iterable<IndexEvent> {
    return this.#present.matchEvents(index, terms, this.#until(scan))
  }

  documentEvents(database: DatabaseId, collection: CollectionId, scan: EventScan): Iterable<IndexEvent> {
    return this.#present.documentEvents(database, collection, this.#until(scan))
  }

  *collectionChanges(
    database: DatabaseId,
    collection: CollectionId,
    from: Micros,
  ): Generator<CommittedTransaction> {
    for (const committed of this.#present.collectionChanges(database, collection, from)) {
      if (committed.time > this.snapshotTime) return
      yield committed
    }
  }

  get changesSince(): Micros {
    return this.#present.changesSince
  }

  resultTime(): Micros {
    return this.snapshotTime
  }

  #until(scan: EventScan): EventScan {
    const isWithin = scan.to !== undefined && scan.to.ts <= this.snapshotTime
    return isWithin ? scan : { ...scan, to: { ts: this.snapshotTime, side: 'high' } }
  }

  entryChanges(
    index: IndexDefinition,
    before: Version | undefined,
    after: Version | undefined,
  ): readonly EntryChange[] {
    return this.#present.entryChanges(index, before, after)
  }

  termsKey(terms: readonly Value[]): string {
    return this.#present.termsKey(terms)
  }

  minimumValidTime(database: DatabaseId, collection: CollectionId): Micros {
    return this.#present.minimumValidTime(database, collection)
  }

  credentialOf(instance: Ref): Version | undefined {
    return this.#present.credentialOf(instance)
  }

  tokensOf(instance: Ref): readonly Version[] {
    return this.#present.tokensOf(instance)
  }

  accessProviderByIssuer(database: DatabaseId, issuer: string): Version | undefined {
    return this.#present.accessProviderByIssuer(database, issuer)
  }

  keyDatabases(keyId: bigint): readonly DatabaseId[] {
    return this.#present.keyDatabases(keyId)
  }

  override secretKey(draw: () => Uint8Array): Uint8Array {
    return this.#present.secretKey(draw)
  }

  newId(): bigint {
    return this.#present.newId()
  }

  isTaken(ref: Ref): boolean {
    return this.#present.isTaken(ref)
  }
}
