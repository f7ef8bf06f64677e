// Reads sets of documents from collections and indexes. Each document is read only on demand.

import { msg } from '../../base/message.ts'
import { type OwnIndex, ownIndexes } from '../../model/schema/collection-indexes.ts'
import type { Session } from '../../model/session.ts'
import { type ElementFilter, mayReadHistory, readableDocumentsOf } from '../../model/sets/access.ts'
import { Reading } from '../../model/sets/reading.ts'
import { documentsStream, matchStream } from '../../model/sets/stored-streams.ts'
import type { Element, ElementStream } from '../../model/sets/stream.ts'
import { native, Ref, type Value as StoredValue } from '../../values/value.ts'
import type { Call, SetReader } from '../call.ts'
import { collectionNumber } from '../library/natives.ts'
import type { SetItem, SetPlace } from '../sets/items.ts'
import {
  invalidCursor,
  missingIndex,
  notQueryable,
  type StoredBound,
  type StoredSet,
} from '../sets/stored-set.ts'
import { type Doc, type IndexUse, type Module, UserCollection, type WatchedPath } from '../value.ts'
import type { DocumentReader } from './documents-read.ts'

/** The document value is created on demand. */
class Entry {
  readonly kind = 'element'
  readonly #values: readonly StoredValue[]
  readonly #document: Ref
  readonly #reader: DocumentReader
  readonly #at: number | undefined
  readonly #foundIn: IndexUse | undefined

  constructor(
    { document, values }: Element,
    reader: DocumentReader,
    at: number | undefined,
    foundIn: IndexUse | undefined,
  ) {
    this.#values = values
    this.#document = document
    this.#reader = reader
    this.#at = at
    this.#foundIn = foundIn
  }

  value(): Doc {
    return this.#reader.reference(this.#document, this.#at, this.#foundIn)
  }

  place(): SetPlace {
    return [this.#values, this.#document.id]
  }
}

export class StoredSetReader implements SetReader {
  readonly #session: Session
  readonly #reader: DocumentReader

  constructor(session: Session, reader: DocumentReader) {
    this.#session = session
    this.#reader = reader
  }

  requireSomeRead(module: Module, call: Call): void {
    this.#session.callSite = call
    if (this.mayReadSome(module)) return
    const message = msg`Insufficient privileges to read from collection ${module.name}.`
    throw call.failure('permission_denied', message)
  }

  *scan(set: StoredSet, from: SetPlace | undefined, call: Call): Generator<SetItem, void, void> {
    const session = this.#session
    const { at, isReversed, snapshot } = set.options
    const reading = new Reading(session, at ?? snapshot)
    const foundIn = this.#indexUse(set)
    session.callSite = call
    this.#requireIndexContent(set, from, call)
    const stream = this.#stream(set, reading, at !== undefined, foundIn)
    if (stream === undefined) return
    const scan = boundsOf(set, from)
    try {
      for (const element of stream.scan({ ...scan, reverse: isReversed })) {
        yield new Entry(element, this.#reader, at, foundIn)
        // The code that received the element may have changed the call site.
        session.callSite = call
      }
    } finally {
      reading.finish('page')
    }
  }

  /**
   * Throws if a set cannot be read from its index as it is now. The index may have been changed since the set was
   * created, also by this query.
   */
  #requireIndexContent({ options }: StoredSet, from: SetPlace | undefined, call: Call): void {
    const { collection, content, index: name } = options
    if (name === undefined) return
    const index = this.#indexOf(collection, name)
    if (index === undefined) throw missingIndex(collection, name, call)
    if (!index.isQueryable) throw notQueryable(collection, name, call)
    const isPlaced = from !== undefined || options.from !== undefined || options.to !== undefined
    if (isPlaced && (content ?? index.contentDigest) !== index.contentDigest) throw invalidCursor(call)
  }

  #stream(
    { options }: StoredSet,
    reading: Reading,
    isPast: boolean,
    foundIn: IndexUse | undefined,
  ): ElementStream | undefined {
    const session = this.#session
    const collection = collectionRef(options.collection, session)
    // Reads of the past need the right to read history. Version 10 ignores the action `unrestricted_read`: only version
    // 4 uses this action.
    const shows: ElementFilter = isPast
      ? document => mayReadHistory(document, session)
      : readableDocumentsOf(collection, session)
    const filter = foundIn && !isPast ? coveredFilter(shows, foundIn, session) : shows
    if (options.index === undefined) return documentsStream(collection, collection, filter, reading)
    const index = ownIndexes(collection, session).get(options.index)
    if (index !== undefined) session.named.note('index', options.index)
    return index && matchStream(index.stored, options.terms, collection, filter, reading)
  }

  /**
   * Returns undefined for a set without an index. The covered fields are `id`, `coll`, and the fields that index
   * entries contain unchanged.
   */
  #indexUse({ options: { collection, index: name, span } }: StoredSet): IndexUse | undefined {
    const index = name === undefined ? undefined : this.#indexOf(collection, name)
    if (index === undefined) return undefined
    const fields = [...index.terms, ...index.values]
    const whole = fields.filter(({ mva, path }) => !mva && path.length === 1)
    const covered = new Set(['id', 'coll', ...whole.map(({ path }) => String(path[0]))])
    return { name: `${collection.name}.${name}`, covered, span }
  }

  mayReadSome(collection: Module): boolean {
    return this.#session.access.mentions('read', collectionRef(collection, this.#session))
  }

  pathsOf(collection: Module, index: string): readonly WatchedPath[] {
    const found = this.#indexOf(collection, index)
    return found === undefined ? [] : [...found.terms, ...found.values].map(({ path }) => path)
  }

  #indexOf(collection: Module, name: string): OwnIndex | undefined {
    return ownIndexes(collectionRef(collection, this.#session), this.#session).get(name)
  }
}

/** Predicates of roles read covered fields from the index entry, not from the document. */
function coveredFilter(shows: ElementFilter, { covered }: IndexUse, session: Session): ElementFilter {
  if (session.authority.kind !== 'roles') return shows
  return document => session.with({ indexMatch: { document, covered } }, () => shows(document))
}

/** Refers to the document that defines a collection. */
export function collectionRef(collection: Module, session: Session): Ref {
  if (collection instanceof UserCollection) return collection.ref
  return new Ref(session.database, native.collections, BigInt(collectionNumber(collection)))
}

/** `place`, the start of the page, replaces the lower bound of the set, or the upper bound of a reversed set. */
function boundsOf({ options }: StoredSet, place: SetPlace | undefined) {
  const { collection, from, isReversed, to } = options
  const number = collectionNumber(collection)
  const bound = ({ values, id, isOpen }: StoredBound, side: 'low' | 'high') => ({
    values,
    ...(isOpen && { isOpen }),
    ...(id !== undefined && { document: { id, collection: number } }),
    side,
  })
  const next = place === undefined ? undefined : boundOfPlace(place)
  const start = next !== undefined && !isReversed ? next : from
  const end = next !== undefined && isReversed ? next : to
  return {
    ...(start && { from: bound(start, 'low') }),
    ...(end && { to: bound(end, 'high') }),
  }
}

function boundOfPlace(place: SetPlace): StoredBound {
  const [values, id] = place as readonly [readonly StoredValue[], bigint]
  return { values, id }
}
