// A transaction of the store. `reader.ts` implements its reads. For a transaction that may write, `document-writer.ts`
// and `schema-writer.ts` add the writes to an overlay (pending writes over the snapshot).

import { assert } from '../../base/assert.ts'
import { epoch, micros } from '../../base/micros.ts'
import {
  type CollectionId,
  type DatabaseId,
  firstUserCollection,
  type Micros,
  namedNatives,
  native,
  type ObjectValue,
  Ref,
  sameRef,
} from '../../values/value.ts'
import { documentKey, historyRange, keyHomeKey } from '../keys/keyspace.ts'
import type { View, Write } from '../kv/kv-contract.ts'
import { Overlay } from '../kv/overlay.ts'
import { parentKey, rootCheckedKey } from './catalogue.ts'
import { encodeChanges, recordSinceKey } from './change-log.ts'
import { DocumentWriter } from './document-writer.ts'
import { idMs } from './ids.ts'
import { StoreReader, type TransactionParts, type TransactionTimes } from './reader.ts'
import { encodeTimes, secretKeyRow, versionTime } from './records.ts'
import type { Rows } from './rows.ts'
import { SchemaWriter } from './schema-writer.ts'
import { firstOf } from './snapshot.ts'
import { type Transaction, type TransactionCounters, type Version, WriteNeeded } from './store-contract.ts'
import { revocationRef, tokenRevocationLimits, withRevocation } from './token-revocation.ts'
import { checkWrites } from './transaction-limits.ts'

interface Writers {
  readonly rows: Rows
  readonly documents: DocumentWriter
  readonly schema: SchemaWriter
}

export class StoreTransaction extends StoreReader implements Transaction {
  readonly commitTime: Micros | undefined
  readonly #writers: Writers | undefined
  /** The final commit time; undefined until written values contain the commit time. */
  #stampedTime: Micros | undefined
  #chosenIdsMs = 0
  #writes = 0
  /** The last generated id that `isTaken` found free: a document with this id is not recorded as chosen by a client. */
  #lastDrawn: bigint | undefined

  constructor(parts: TransactionParts, view: View, times: TransactionTimes, counters?: TransactionCounters) {
    const { commitTime } = times
    const overlay = commitTime === undefined ? undefined : new Overlay(view)
    super(parts, overlay ?? view, times, counters)
    this.commitTime = commitTime
    if (overlay !== undefined && commitTime !== undefined)
      this.#writers = this.#makeWriters(overlay, commitTime)
  }

  #makeWriters(overlay: Overlay, commitTime: Micros): Writers {
    const { catalogue, snapshot, stamp, versionReader: reader } = this
    const { bindingBudget, hooks } = this.parts
    const rows: Rows = { snapshot, overlay, catalogue, reader, hooks, bindingBudget, commitTime, stamp }
    const documents: DocumentWriter = new DocumentWriter(rows, (version, journal) =>
      schema.updateDerived(version, journal),
    )
    const schema = new SchemaWriter(rows, documents)
    return { rows, documents, schema }
  }

  protected override readonly stamp = (): Micros => {
    const { commitTime, stampTime } = this.times
    // A transaction that only reads has no commit time. Its response has the read timestamp.
    if (commitTime === undefined) return this.readTimestamp
    this.#stampedTime ??= Math.max(stampTime?.() ?? commitTime, this.parts.ids.newest)
    return this.#stampedTime
  }

  rehearsal(): StoreTransaction {
    const times = { ...this.times, commitTime: this.commitTime ?? micros(this.snapshotTime + 1) }
    const rehearsal = new StoreTransaction(this.parts, this.snapshot.view, times)
    for (const database of this.catalogue.changed) rehearsal.catalogue.dropCached(database)
    return rehearsal
  }

  asOf(time: Micros): Transaction {
    if (time >= this.lastCommitTime) return this
    const { commitTime: _, ...times } = this.times
    return new StoreTransaction(this.parts, this.snapshot.view, { ...times, past: time }, this.counters)
  }

  /** Written values contain the commit time. The times of versions and index entries do not count. */
  get isStamped(): boolean {
    return this.#stampedTime !== undefined
  }

  /** The earliest possible commit time, not before the times in the ids that the transaction has generated. */
  get committableAt(): Micros {
    return this.#stampedTime ?? Math.max(this.commitTime ?? epoch, this.parts.ids.newest)
  }

  /**
   * The latest time in the ids that clients chose for documents of this transaction, in milliseconds; 0 if none is in
   * the future.
   */
  get chosenIdsMs(): number {
    return this.#chosenIdsMs
  }

  get writes(): number {
    return this.#writes
  }

  #write(): Writers {
    if (this.#writers === undefined) throw new WriteNeeded()
    this.#writes++
    return this.#writers
  }

  /** The rows, for code of the store that writes rows instead of documents. */
  get rows(): Rows {
    return this.#write().rows
  }

  /** A version that this transaction has written contains placeholders instead of the commit time. */
  protected override decode(ref: Ref, stored: Uint8Array): Version {
    if (this.#writers !== undefined && versionTime(stored) === this.commitTime) {
      const pending = this.#writers.documents.pendingVersion(ref)
      if (pending !== undefined) return pending
    }
    return super.decode(ref, stored)
  }

  hasWritten(database: DatabaseId, collection: CollectionId): boolean {
    return this.#write().documents.hasWritten(database, collection)
  }

  put(ref: Ref, fields: ObjectValue): Version {
    const { documents, schema } = this.#write()
    this.#recordChosenId(ref)
    return ref.collection >= firstUserCollection ? documents.write(ref, fields) : schema.put(ref, fields)
  }

  delete(ref: Ref): void {
    const { documents, schema } = this.#write()
    const isIdentity = ref.collection >= firstUserCollection
    const dependents = isIdentity ? this.directory.credentialsOf(ref) : schema.dependents(ref)
    documents.write(ref, undefined)
    for (const dependent of dependents) this.delete(dependent)
    // Tokens and credentials must never apply to a later document with the same id.
    if (isIdentity) this.deleteTokens(ref)
  }

  deleteTokens(instance: Ref): void {
    const stored = this.#fewTokensOf(instance)
    if (stored !== undefined) {
      for (const token of stored) this.delete(token)
      return
    }
    // A revocation applies only to tokens of earlier transactions.
    for (const { fields, ref } of this.#write().documents.pendingIn(instance.database, native.tokens)) {
      const other = fields.get('instance')
      if (other instanceof Ref && sameRef(other, instance)) this.delete(ref)
    }
    const revocation = revocationRef(instance)
    this.put(revocation, withRevocation(this.get(revocation)?.fields, instance))
  }

  /** Returns the tokens of an identity; undefined if one transaction cannot delete all of them. */
  #fewTokensOf(instance: Ref): readonly Ref[] | undefined {
    const { tokenBytesDeletedAtOnce, tokensDeletedAtOnce } = tokenRevocationLimits
    const tokens: Ref[] = []
    let bytes = 0
    for (const token of this.directory.storedTokensOf(instance)) {
      bytes += this.snapshot.view.get(documentKey(token))?.length ?? 0
      if (tokens.push(token) > tokensDeletedAtOnce || bytes > tokenBytesDeletedAtOnce) return undefined
    }
    return tokens
  }

  insertVersion(ref: Ref, ts: Micros, fields: ObjectValue | undefined): Version {
    const { documents } = this.#write()
    assert(!namedNatives.has(ref.collection), 'the history of schema objects is not rewritten')
    this.#recordChosenId(ref)
    return documents.insertVersion(ref, ts, fields)
  }

  removeVersion(ref: Ref, ts: Micros, action: 'create' | 'delete'): Version | undefined {
    const minimum = this.minimumValidTime(ref.database, ref.collection)
    return this.#write().documents.removeVersion(ref, ts, action, minimum)
  }

  newId(): bigint {
    return this.parts.ids.next(this.commitTime ?? this.snapshotTime)
  }

  isTaken(ref: Ref): boolean {
    const { time, view } = this.snapshot
    if (this.#writers?.documents.hasForgotten(ref)) return true
    const ms = idMs(ref.id)
    // Generated ids never repeat, and ids that clients have chosen have times before `earliestMs`. So a newly generated
    // id with the time `earliestMs` or a later time is not in use.
    const earliestMs = Math.max(this.times.chosenIdsMs + 1, this.#chosenIdsMs + 1, Math.floor(time / 1000))
    if (ref.collection >= firstUserCollection && ms >= earliestMs)
      view.recordAbsence?.(documentKey(ref), historyRange(ref))
    else if (isStored(view, ref)) return true
    this.#lastDrawn = ref.id
    return false
  }

  /**
   * An id with a future time that the transaction did not generate: at that time, a process could generate the same id,
   * so `isTaken` must then search for it.
   */
  #recordChosenId({ collection, id }: Ref): void {
    if (collection < firstUserCollection || id === this.#lastDrawn) return
    const ms = idMs(id)
    if (ms >= Math.floor((this.commitTime ?? 0) / 1000)) this.#chosenIdsMs = Math.max(this.#chosenIdsMs, ms)
  }

  nextSchemaId(database: DatabaseId, nativeCollection: number): bigint {
    return this.#write().schema.nextSchemaId(database, nativeCollection)
  }

  resultTime(): Micros {
    if (this.#writers === undefined || this.#writers.rows.overlay.isEmpty) return this.readTimestamp
    return this.stamp()
  }

  secretKey(draw: () => Uint8Array): Uint8Array {
    const stored = this.snapshot.view.get(secretKeyRow)
    if (stored !== undefined) return Uint8Array.from(stored)
    const { overlay } = this.rows
    const drawn = draw()
    overlay.set(secretKeyRow, drawn)
    return drawn
  }

  moveDatabase(database: Ref, parent: DatabaseId): Version {
    const { schema } = this.#write()
    const keys = Array.from(this.documents(database.database, native.keys, {}), entry => entry.document)
    return schema.moveDatabase(database, parent, keys)
  }

  /** Returns the writes; empty if nothing was written. */
  finish(): Write[] {
    const { rows, documents, schema } = this.#write()
    const { overlay, commitTime } = rows
    if (overlay.isEmpty) return []
    schema.markChanged()
    const writes = overlay.writes()
    if (writes.length === 0) return []
    writes.push(...encodeChanges(commitTime, documents.changes()))
    const { changeRecord } = this.parts
    // Part of the read set. If a concurrent commit writes the key, this transaction must be evaluated again.
    changeRecord.isBegun ||= overlay.get(recordSinceKey) !== undefined
    if (!changeRecord.isBegun) {
      writes.push({ key: recordSinceKey, value: encodeTimes(this.lastCommitTime) })
      if (this.lastCommitTime === epoch) writes.push({ key: rootCheckedKey, value: Uint8Array.of(1) })
    }
    this.counters.writeBytes = checkWrites(writes)
    this.counters.writeOps = documents.writeOps()
    return writes
  }
}

/**
 * Returns whether any version of a document is stored, also of a deleted or expired document. Ids of databases and keys
 * are unique in the whole store, so all databases are searched.
 */
function isStored(view: View, ref: Ref): boolean {
  if (view.get(documentKey(ref)) !== undefined) return true
  if (firstOf(view, historyRange(ref)) !== undefined) return true
  if (ref.collection === native.databases) return view.get(parentKey(ref.id)) !== undefined
  return ref.collection === native.keys && view.get(keyHomeKey(ref.id)) !== undefined
}
