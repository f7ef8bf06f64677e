// All writes of a transaction to one document become one version at the commit time, whose action and index rows depend
// on the state before the transaction. So a second write to a document first undoes the first write in the overlay,
// which contains the uncommitted writes. `history-writer.ts` writes into the past.

import { byteText } from '../../base/byte-text.ts'
import { limits } from '../../base/limits.ts'
import {
  type CollectionId,
  type DatabaseId,
  firstUserCollection,
  type Micros,
  namedNatives,
  native,
  type ObjectValue,
  Ref,
  TransactionTime,
  unlisted,
} from '../../values/value.ts'
import { documentKey, historyKey } from '../keys/keyspace.ts'
import type { Bytes } from '../kv/kv-contract.ts'
import type { Journal } from '../kv/overlay.ts'
import { newestLive } from './documents.ts'
import { expiryTime, markExpiry } from './expiry-marks.ts'
import { actionOfVersion, replaceVersion } from './history-writer.ts'
import {
  entriesOfStored,
  isDuplicate,
  prepareEntries,
  replaceEntries,
  type StoredVersion,
} from './index-tables.ts'
import { encodeVersion, ttlOf, versionTime, versionTtl } from './records.ts'
import { minimumValidTime } from './retention.ts'
import { indexesOf, type Rows } from './rows.ts'
import { read, recordExpiry } from './snapshot.ts'
import { type Change, type Version, WriteRejected } from './store-contract.ts'
import { checkTransactionBytes, checkVersionBytes } from './transaction-limits.ts'

const documentWriterLimits = {
  /** Bytes that count as one write operation. */
  writeOpBytes: 1024,
} as const

/** A document that this transaction has written. `journal` undoes the writes in the overlay. */
interface PendingDocument {
  readonly key: Bytes
  readonly journal: Journal
  version: Version
  bytes: number
  /** The bytes of the written index rows that count towards the limit of the transaction. */
  rowBytes: number
}

/** Called for each version that is added to the overlay, to update the data that is derived from schema objects. */
type OnVersion = (version: Version, journal: Journal) => void

const noFields: ObjectValue = new Map()

export class DocumentWriter {
  readonly #context: Rows
  readonly #versionWritten: OnVersion
  /** Documents by the text of their keys. */
  readonly #pending = new Map<string, PendingDocument>()
  /** Documents that this transaction has created and then deleted. */
  readonly #forgotten = new Set<string>()
  readonly #historyChanges: Change[] = []
  #bytes = 0

  constructor(context: Rows, versionWritten: OnVersion) {
    this.#context = context
    this.#versionWritten = versionWritten
  }

  /** The version that this transaction has written, if any. */
  pendingVersion(ref: Ref): Version | undefined {
    return this.#pending.size === 0 ? undefined : this.#pending.get(nameOf(ref))?.version
  }

  hasWritten(database: DatabaseId, collection: CollectionId): boolean {
    for (const { version } of this.#pending.values()) {
      if (version.ref.collection === collection && version.ref.database === database) return true
    }
    return this.#historyChanges.some(({ ref }) => ref.collection === collection && ref.database === database)
  }

  /** The versions that this transaction has written in a collection, without deletions. */
  pendingIn(database: DatabaseId, collection: CollectionId): Version[] {
    const versions = Array.from(this.#pending.values(), ({ version }) => version)
    return versions.filter(
      ({ action, ref }) => ref.collection === collection && ref.database === database && action !== 'delete',
    )
  }

  /** Returns whether this transaction has created a document and deleted it again. */
  hasForgotten(ref: Ref): boolean {
    return this.#forgotten.size > 0 && this.#forgotten.has(nameOf(ref))
  }

  /**
   * The newest version of a document, which this transaction may have written; undefined if there is none or if the
   * document was deleted. Unlike {@link pendingVersion}, the version has times instead of placeholders.
   */
  current(ref: Ref): StoredVersion | undefined {
    const stored = this.#context.snapshot.view.get(documentKey(ref))
    return stored && this.#context.reader.read(ref, stored)
  }

  /** Deletes the document if `fields` is undefined. Returns the version. */
  write(ref: Ref, fields: ObjectValue | undefined): Version {
    const { commitTime, reader, snapshot } = this.#context
    const pending = this.#takeBack(ref)
    const base = read(snapshot, pending.key)
    const before = base && reader.read(ref, base)
    if (before !== undefined) recordExpiry(snapshot, ttlOf(before.fields))
    const action = fields === undefined ? 'delete' : actionOfVersion(before, commitTime)
    const isOfUser = ref.collection >= firstUserCollection
    if (fields === undefined && before === undefined && isOfUser) return this.#forget(pending, ref)
    pending.version = { ref, ts: TransactionTime.micros, action, fields: fields ?? noFields }
    this.#writeRows(pending, base, before, true)
    return pending.version
  }

  /** Removes a document that this transaction has created. No rows remain, not even a version for the deletion. */
  #forget({ bytes, key, rowBytes }: PendingDocument, ref: Ref): Version {
    this.#bytes -= bytes + rowBytes
    this.#pending.delete(byteText(key))
    this.#forgotten.add(byteText(key))
    return { ref, ts: TransactionTime.micros, action: 'delete', fields: noFields }
  }

  /** Undoes the rows of an earlier write of this transaction to the document. */
  #takeBack(ref: Ref): PendingDocument {
    const key = documentKey(ref)
    const name = byteText(key)
    let pending = this.#pending.get(name)
    if (pending === undefined) {
      const version: Version = { ref, ts: TransactionTime.micros, action: 'delete', fields: noFields }
      pending = { key, journal: [], version, bytes: 0, rowBytes: 0 }
      this.#pending.set(name, pending)
    } else {
      this.#context.overlay.revert(pending.journal)
    }
    return pending
  }

  /** Adds the version and all derived rows to the overlay. */
  #writeRows(
    pending: PendingDocument,
    base: Bytes | undefined,
    before: StoredVersion | undefined,
    checksUnique: boolean,
  ): void {
    const { catalogue, overlay, commitTime, stamp } = this.#context
    const { journal, key, version } = pending
    const { ref } = version
    // The schema is dropped before the first write to it. From then on, the transaction must not add schema objects to
    // the shared cache, because it may fail before its commit.
    const kind = version.ref.collection
    const isSchema = namedNatives.has(kind) || kind === unlisted.staged_schema
    if (isSchema || kind === unlisted.graphql_schema) catalogue.dropCached(version.ref.database)
    const stored = encodeVersion(version, commitTime, stamp)
    this.#countBytes(pending, stored.length)
    if (base !== undefined) overlay.set(historyKey(ref, versionTime(base)), base, journal)
    const isDelete = version.action === 'delete'
    if (!isDelete) overlay.set(key, stored, journal)
    else {
      if (base !== undefined) overlay.set(key, undefined, journal)
      overlay.set(historyKey(ref, commitTime), stored, journal)
    }
    // An expiry mark shows the sweeper when data expires (expiry-marks.ts). For creates and for deletes of existing
    // documents, their events in the index of the collection's documents serve as marks.
    if (isDelete === (base === undefined)) markExpiry(overlay, ref, commitTime, journal)
    markExpiry(overlay, ref, expiryTime(versionTtl(stored), commitTime), journal)
    this.#context.bindingBudget.perItem(limits.documentBindingsMs, () =>
      this.#replaceIndexEntries(pending, before, checksUnique),
    )
    this.#versionWritten(version, journal)
  }

  #countBytes(pending: PendingDocument, bytes: number): void {
    checkVersionBytes(bytes)
    this.#bytes += bytes - pending.bytes
    pending.bytes = bytes
    checkTransactionBytes(this.#bytes)
  }

  #replaceIndexEntries(
    pending: PendingDocument,
    before: StoredVersion | undefined,
    checksUnique: boolean,
  ): void {
    const { overlay, commitTime, stamp, snapshot, catalogue } = this.#context
    const { journal, version } = pending
    const { database, collection } = version.ref
    const hasCollection = (id: CollectionId) => catalogue.hasCollection(database, id)
    const minimum = () =>
      minimumValidTime(collection, catalogue.userCollection(database, collection), snapshot.time)
    const violated: Ref[] = []
    this.#bytes -= pending.rowBytes
    pending.rowBytes = 0
    for (const index of indexesOf(this.#context, database, collection)) {
      snapshot.counters.indexUnits += index.width
      const { added, bytes } = replaceEntries(overlay, journal, index, {
        before: entriesOfStored(index, before, stamp),
        after: prepareEntries(index, version, stamp),
        time: commitTime,
        minimum,
      })
      pending.rowBytes += bytes
      this.#bytes += bytes
      checkTransactionBytes(this.#bytes)
      if (!index.unique || !checksUnique) continue
      for (const entry of added) {
        snapshot.counters.readBytes += entry.liveKey.length
        if (!isDuplicate(overlay, entry, snapshot, hasCollection)) continue
        violated.push(new Ref(database, native.indexes, BigInt(index.number)))
        break
      }
    }
    if (violated.length > 0) throw new WriteRejected('not unique', violated)
  }

  /**
   * Runs `work` as if this transaction had not written the documents that `isConcerned` selects. Then applies the
   * transaction's writes to them again.
   */
  withoutPending(isConcerned: (ref: Ref) => boolean, work: () => void): void {
    const concerned = [...this.#pending.values()].filter(({ version }) => isConcerned(version.ref))
    for (const { journal } of concerned) this.#context.overlay.revert(journal)
    work()
    for (const pending of concerned) this.#rewriteRows(pending)
  }

  /**
   * Adds the rows of a pending version to the overlay again, after its journal was reverted. If the previous version of
   * the document has changed meanwhile, the action of the pending version may change, too. Unique indexes were checked
   * when the document was written.
   */
  #rewriteRows(pending: PendingDocument): void {
    const { ref } = pending.version
    const base = newestLive(this.#context.snapshot, ref)
    const before = base && this.#context.reader.read(ref, base)
    if (before !== undefined) recordExpiry(this.#context.snapshot, ttlOf(before.fields))
    if (pending.version.action !== 'delete') {
      const action = actionOfVersion(before, this.#context.commitTime)
      if (action !== pending.version.action) pending.version = { ...pending.version, action }
    }
    this.#writeRows(pending, base, before, false)
  }

  /** Inserts a version at the past time `ts`, or replaces the version at exactly this time, unless it is equal. */
  insertVersion(ref: Ref, ts: Micros, fields: ObjectValue | undefined): Version {
    const { bindingBudget, reader, stamp } = this.#context
    let inserted: StoredVersion | undefined
    const isChanged = this.#replace(ref, ts, ({ previous }) => {
      const content = fields ?? noFields
      const action = fields === undefined ? 'delete' : actionOfVersion(previous, ts)
      // Encoding and decoding the version replaces placeholders for the transaction's time with the commit time.
      const shapeTime = reader.shapeTimeOf(ref)
      const stored = encodeVersion({ action, fields: content, shapeTime }, ts, stamp)
      checkVersionBytes(stored.length)
      this.#bytes += stored.length
      checkTransactionBytes(this.#bytes)
      inserted = reader.read(ref, stored)
      const checked = inserted
      bindingBudget.perItem(limits.documentBindingsMs, () => {
        // Throws if the version violates a rule for entries.
        for (const tables of indexesOf(this.#context, ref.database, ref.collection))
          prepareEntries(tables, checked, ts)
      })
      return inserted
    })
    const version = inserted as StoredVersion
    if (isChanged)
      this.#historyChanges.push({ ref, validTime: ts, kind: 'history insert', action: version.action })
    return version
  }

  /**
   * Removes the version at exactly `ts`, a past time. `action`: `delete` for a delete; `create` for any other version.
   * `minimum`: the start of the retained history. If the version was valid at `minimum`, a delete replaces it. Returns
   * the removed version; undefined if no version has this time and action.
   */
  removeVersion(ref: Ref, ts: Micros, action: 'create' | 'delete', minimum: Micros): Version | undefined {
    // Clients may name earlier times than the store can have.
    if (!Number.isSafeInteger(ts)) return undefined
    let removed: StoredVersion | undefined
    const isChanged = this.#replace(ref, ts, ({ next, present }) => {
      if (present === undefined || (present.action === 'delete') !== (action === 'delete')) return present
      removed = present
      const wasValidAtMinimum = ts <= minimum && (next === undefined || next.ts > minimum)
      return wasValidAtMinimum ? { ref, ts, action: 'delete', fields: noFields } : undefined
    })
    if (removed !== undefined && isChanged)
      this.#historyChanges.push({ ref, validTime: ts, kind: 'history remove', action: removed.action })
    return removed
  }

  /** See {@link replaceVersion}. The document's pending version stays the newest. */
  #replace(ref: Ref, ts: Micros, replace: Parameters<typeof replaceVersion>[3]): boolean {
    const pending = this.#pending.get(nameOf(ref))
    if (pending !== undefined) this.#context.overlay.revert(pending.journal)
    const isChanged = replaceVersion(this.#context, ref, ts, replace)
    if (pending !== undefined) this.#rewriteRows(pending)
    return isChanged
  }

  /** Returns the changes of this transaction for the change record (change-log.ts). */
  changes(): Change[] {
    const { commitTime: validTime } = this.#context
    const changes = [...this.#historyChanges]
    for (const { version } of this.#pending.values())
      changes.push({ ref: version.ref, validTime, kind: 'write', action: version.action })
    return changes
  }

  /**
   * One operation for each {@link documentWriterLimits.writeOpBytes} bytes of a document, and for each inserted or
   * removed version in the past.
   */
  writeOps(): number {
    let ops = this.#historyChanges.length
    for (const { bytes } of this.#pending.values())
      ops += Math.ceil(bytes / documentWriterLimits.writeOpBytes)
    return ops
  }
}

function nameOf(ref: Ref): string {
  return byteText(documentKey(ref))
}
