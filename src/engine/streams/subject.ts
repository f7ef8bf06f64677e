// Finds the subjects (documents or sets that streams follow) that a transaction affects: those for the changed
// document, for its collection, and for sets in the indexes of this collection. A change that no stream follows costs a
// few lookups in maps.

import { micros } from '../../base/micros.ts'
import { upsert } from '../../base/upsert.ts'
import type { StreamEvent, StreamSubject } from '../../model/streaming.ts'
import type { Change, Transaction } from '../../storage/store/store-contract.ts'
import {
  collectionOf,
  type DatabaseId,
  type ObjectValue,
  type Ref,
  refKey,
  type Value,
} from '../../values/value.ts'
import { documentEvents, neighboursOf, type StateChange, setEvent, stateChange } from './events.ts'
import { Subject } from './open-stream.ts'

/** Returns the object whose deletion ends the streams of a subject. */
export function sourceOf(target: StreamSubject): Ref {
  switch (target.kind) {
    case 'document':
      return collectionOf(target.ref)
    case 'documents':
    case 'writes':
      return target.collection
    case 'match':
      return target.index
  }
}

type SubjectsByKey = Map<string, Subject>

export class Subjects {
  readonly #documents = new Map<string, Subject>()
  readonly #collections = new Map<string, Subject>()
  /** Subjects of kind `writes`, by collection. Every write to the collection affects such a subject. */
  readonly #written = new Map<string, Subject>()
  /** Subjects for sets of index entries with the same terms, by database, index and key of the terms. */
  readonly #indexes = new Map<DatabaseId, Map<bigint, SubjectsByKey>>()

  obtain(target: StreamSubject, transaction: Transaction): Subject {
    const [map, key] = this.#mapAndKey(target, transaction)
    return upsert(map, key, () => new Subject(target, key))
  }

  #mapAndKey(target: StreamSubject, transaction: Pick<Transaction, 'termsKey'>): [SubjectsByKey, string] {
    switch (target.kind) {
      case 'document':
        return [this.#documents, refKey(target.ref)]
      case 'documents':
        return [this.#collections, refKey(target.collection)]
      case 'writes':
        return [this.#written, refKey(target.collection)]
      case 'match': {
        const { database, id } = target.index
        const ofDatabase = upsert(this.#indexes, database, () => new Map<bigint, SubjectsByKey>())
        return [upsert(ofDatabase, id, () => new Map()), transaction.termsKey(target.terms)]
      }
    }
  }

  drop(subject: Subject): void {
    const { key, target } = subject
    if (target.kind === 'document') this.#documents.delete(key)
    else if (target.kind === 'documents') this.#collections.delete(key)
    else if (target.kind === 'writes') this.#written.delete(key)
    else this.#dropSet(target.index, key)
  }

  #dropSet({ database, id }: Ref, key: string): void {
    const ofDatabase = this.#indexes.get(database)
    const sets = ofDatabase?.get(id)
    sets?.delete(key)
    if (sets?.size === 0) ofDatabase?.delete(id)
    if (ofDatabase?.size === 0) this.#indexes.delete(database)
  }

  /**
   * Adds the events of one change to `found`, for each subject that the change affects. A subject of kind `writes` gets
   * an empty list. Yields where the caller may continue in a later transaction.
   */
  *addEventsOf(
    change: Change,
    txn: number,
    transaction: Transaction,
    found: Map<Subject, StreamEvent[]>,
  ): Generator<void, void> {
    const { ref } = change
    const document = this.#documents.get(refKey(ref))
    const collectionKey = refKey(collectionOf(ref))
    const collection = this.#collections.get(collectionKey)
    const written = this.#written.get(collectionKey)
    // The empty list wakes the subject's readers, which then read the events with queries.
    if (written !== undefined) upsert(found, written, () => [])
    const indexes = this.#indexes.get(ref.database)
    if (!(document || collection || indexes)) return
    const neighbours = neighboursOf(change, micros(txn), transaction)
    if (document) add(found, document, documentEvents(change, neighbours))
    const state = (collection || indexes) && stateChange(change, neighbours)
    if (!state) return
    if (collection && !state.before !== !state.after) {
      // As in the hosted service, the member `index` contains a reference to the collection instead of an index.
      const index = indexMember(collectionOf(ref), [], [])
      add(found, collection, [setEvent(state.after ? 'add' : 'remove', ref, change.validTime, index)])
    }
    if (indexes) yield* addEntryEvents(found, indexes, change, state, transaction)
  }
}

function add(found: Map<Subject, StreamEvent[]>, subject: Subject, events: readonly StreamEvent[]): void {
  if (events.length > 0) upsert(found, subject, () => []).push(...events)
}

function* addEntryEvents(
  found: Map<Subject, StreamEvent[]>,
  followed: ReadonlyMap<bigint, SubjectsByKey>,
  { ref, validTime }: Change,
  { after, before }: StateChange,
  transaction: Transaction,
): Generator<void, void> {
  const indexes = transaction.catalogue
    .indexesOf(ref.database, ref.collection)
    .filter(index => followed.has(index.ref.id))
    // The changes are created now, because the transaction may have ended when the caller continues.
    .map(index => [index.ref, transaction.entryChanges(index, before, after)] as const)
  for (const [index, changes] of indexes)
    for (const change of changes) {
      yield
      if (change === undefined) continue
      const subject = followed.get(index.id)?.get(change.termsKey)
      if (subject === undefined) continue
      const member = indexMember(index, change.terms, change.values)
      add(found, subject, [setEvent(change.action, ref, validTime, member)])
    }
}

function indexMember(ref: Ref, terms: readonly Value[], values: readonly Value[]): ObjectValue {
  return new Map<string, Value>([
    ['ref', ref],
    ['terms', terms],
    ['values', values],
  ])
}
