// Lists the changes of a collection, a document or an index since a given time, for event feeds. Changes are sorted by
// commit time. Within a commit, the changes of a collection are sorted by document id, and the changes of an index by
// the values of the index. A collection is read from the change record, a list of the changed documents by commit; an
// index from its events, and a document from its versions. So the costs depend only on the number of changes of the
// source.

import { step } from '../base/effort.ts'
import { micros } from '../base/micros.ts'
import { upsert } from '../base/upsert.ts'
import type { IndexDefinition } from '../storage/store/index-definition.ts'
import type { HistoryReader, IndexEvent, ReadTransaction, Version } from '../storage/store/store-contract.ts'
import { compareValues } from '../values/order.ts'
import { collectionOf, type Micros, type Ref, type Value } from '../values/value.ts'

/** The source whose changes a feed reports. */
export type ChangeSource =
  | { readonly kind: 'collection'; readonly collection: Ref }
  | { readonly kind: 'document'; readonly document: Ref }
  | {
      readonly kind: 'index'
      readonly collection: Ref
      readonly index: IndexDefinition
      readonly terms: readonly Value[]
    }

/** The change of a document in a transaction. */
export interface SourceChange {
  /** The commit time. */
  readonly time: Micros
  /** The index of this change among the transaction's changes of the source, from 0. */
  readonly ordinal: number
  readonly document: Ref
  /** True if the source contained the document before the transaction. */
  readonly wasIn: boolean
  /**
   * True if the source contains the document after the transaction. Consumers must also check that the document exists
   * and that the caller may read it.
   */
  readonly isIn: boolean
}

/** Transactions with a commit time of at least `from`, oldest first, read on demand. */
export function sourceChanges(
  source: ChangeSource,
  from: Micros,
  transaction: ReadTransaction & HistoryReader,
): Iterable<SourceChange> {
  switch (source.kind) {
    case 'collection':
      return collectionChanges(source.collection, from, transaction)
    case 'document':
      return documentChanges(source.document, from, transaction)
    case 'index':
      return indexChanges(source, from, transaction)
  }
}

/**
 * Returns whether {@link sourceChanges} returns all changes since `from`. Returns false if history since `from` has
 * been removed and, for collections, if the change record begins after `from`.
 */
export function areComplete(
  source: ChangeSource,
  from: Micros,
  transaction: ReadTransaction & HistoryReader,
): boolean {
  const collection = source.kind === 'document' ? collectionOf(source.document) : source.collection
  const minimumTime = transaction.minimumValidTime(collection.database, Number(collection.id))
  if (from < minimumTime) return false
  const { changesSince } = transaction
  if (source.kind !== 'collection' || from >= changesSince) return true
  // The change record contains all changes of a collection that was created after the start of the record.
  const [first] = transaction.versions(collection)
  return typeof first?.ts === 'number' && first.ts > changesSince
}

function* collectionChanges(
  { database, id }: Ref,
  from: Micros,
  transaction: ReadTransaction & HistoryReader,
): Generator<SourceChange> {
  for (const { changes, time } of transaction.collectionChanges(database, Number(id), from)) {
    step(changes.length)
    // Changes of earlier versions are not reported. Most commits already have the order of document ids.
    const written = changes.filter(({ kind }) => kind === 'write')
    if (!isAscending(written)) written.sort((a, b) => (a.ref.id < b.ref.id ? -1 : 1))
    let ordinal = 0
    for (const { action, ref } of written) {
      yield { time, ordinal: ordinal++, document: ref, wasIn: action !== 'create', isIn: action !== 'delete' }
    }
  }
}

function isAscending(changes: readonly { readonly ref: Ref }[]): boolean {
  for (let at = 1; at < changes.length; at++) {
    if ((changes[at - 1] as { ref: Ref }).ref.id > (changes[at] as { ref: Ref }).ref.id) return false
  }
  return true
}

function* documentChanges(
  document: Ref,
  from: Micros,
  transaction: ReadTransaction & HistoryReader,
): Generator<SourceChange> {
  for (const { action, ts } of transaction.versions(document, { notBefore: from })) {
    step()
    // `transaction` is read-only, so every version has a commit time.
    const time = ts as Micros
    if (time >= from)
      yield { time, ordinal: 0, document, wasIn: action !== 'create', isIn: action !== 'delete' }
  }
}

/** The index events of a transaction for the entries of a document. */
interface EntryEvents {
  readonly document: Ref
  added: IndexEvent | undefined
  removed: IndexEvent | undefined
}

function* indexChanges(
  { index, terms }: Extract<ChangeSource, { kind: 'index' }>,
  from: Micros,
  transaction: ReadTransaction & HistoryReader,
): Generator<SourceChange> {
  const isMember = membershipIn(index, terms, transaction)
  let time: Micros | undefined
  let touched = new Map<bigint, EntryEvents>()
  const finish = () => (time === undefined ? [] : ordered(touched, time, index, isMember))
  for (const event of transaction.matchEvents(index, terms, { from: { ts: from, side: 'low' } })) {
    step()
    // `transaction` is read-only, so every event has a commit time.
    const ts = event.ts as Micros
    if (ts !== time) {
      yield* finish()
      time = ts
      touched = new Map()
    }
    const { document } = event
    const events = upsert(touched, document.id, () => ({ document, added: undefined, removed: undefined }))
    if (event.action === 'add') events.added ??= event
    else events.removed ??= event
  }
  yield* finish()
}

function* ordered(
  touched: ReadonlyMap<bigint, EntryEvents>,
  time: Micros,
  index: IndexDefinition,
  isMember: IsMember,
): Generator<SourceChange> {
  const sorted = [...touched.values()].sort((left, right) => compareEntries(left, right, index))
  for (const [ordinal, { added, document, removed }] of sorted.entries()) {
    const wasIn = removed !== undefined || isMember(document, micros(time - 1))
    const isIn = added !== undefined || isMember(document, time)
    yield { time, ordinal, document, wasIn, isIn }
  }
}

function compareEntries(left: EntryEvents, right: EntryEvents, { values }: IndexDefinition): number {
  const valuesOf = ({ added, removed }: EntryEvents) => (added ?? removed)?.values ?? []
  const [a, b] = [valuesOf(left), valuesOf(right)]
  for (const [index, { reverse }] of values.entries()) {
    const order = compareValues(a[index] ?? null, b[index] ?? null)
    if (order !== 0) return reverse ? -order : order
  }
  return left.document.id < right.document.id ? -1 : 1
}

/** Returns whether a document had index entries with the searched terms. */
type IsMember = (document: Ref, time: Micros) => boolean

function membershipIn(
  index: IndexDefinition,
  terms: readonly Value[],
  transaction: ReadTransaction & HistoryReader,
): IsMember {
  const wanted = transaction.termsKey(terms)
  return (document, time) => {
    const version: Version | undefined = transaction.get(document, time)
    if (version === undefined) return false
    for (const change of transaction.entryChanges(index, undefined, version))
      if (change?.termsKey === wanted) return true
    return false
  }
}
