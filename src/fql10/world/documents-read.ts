// Reads documents with the rights of the caller, and returns their fields in the order of the response.

import { step } from '../../base/effort.ts'
import { msg } from '../../base/message.ts'
import { mayOnDocument } from '../../model/permissions.ts'
import { countingRead } from '../../model/read.ts'
import { textIn } from '../../model/schema/definition-parts.ts'
import type { Session } from '../../model/session.ts'
import { visibleFields } from '../../model/view-document.ts'
import { flat } from '../../values/json-text.ts'
import { timeFromMicros } from '../../values/time.ts'
import {
  type CollectionId,
  collectionOf,
  type DatabaseId,
  firstUserCollection,
  isNativeCollectionRef,
  isObject,
  native,
  Ref,
  type RenderCache,
  type Value as StoredValue,
  type Time,
  TransactionTime,
} from '../../values/value.ts'
import type { Absence, Call, DocumentAccess } from '../call.ts'
import { encodeJson, type Rendering } from '../formats/rendering.ts'
import {
  collectionNumber,
  deletedCollection,
  nativeModule,
  nativeNumber,
  nativeOf,
} from '../library/natives.ts'
import { isReservedField } from '../schema/field-names.ts'
import {
  Doc,
  type DocumentVersion,
  Id,
  type IndexUse,
  type Module,
  type Struct,
  type Value,
} from '../value.ts'
import { hasNames, shownFields } from './native-fields.ts'
import type { Names } from './query-names.ts'
import { schemaPartsOf } from './schema-parts.ts'
import { runtimeOf } from './stored-values.ts'
import { notFoundText } from './write-failures.ts'

interface LastRead {
  readonly doc: Doc
  readonly at: number | undefined
  /** True if the caller of the read asked for a read without costs. */
  readonly isFree: boolean
  /** The number of writes of the query, plus the number of collections that it has deleted, before this read. */
  readonly changes: number
  readonly read: DocumentVersion | undefined
}

interface CollectionInfo {
  readonly database: DatabaseId
  readonly number: CollectionId
  readonly module: Module
  readonly parts: ReturnType<typeof schemaPartsOf>
}

/** Cached text of this many UTF-16 units costs one step of evaluation effort (base/effort.ts). */
const cachedCharsPerStep = 64

/**
 * The cached JSON texts of document versions that are read often, one cache for each format. A text omits the id and
 * the collection. An entry is null if the version alone does not determine the text.
 */
const simpleTexts = new WeakMap<RenderCache, string | null>()
const taggedTexts = new WeakMap<RenderCache, string | null>()

/** Reads the documents of one query with the rights of its caller. */
export class DocumentReader implements DocumentAccess {
  readonly #session: Session
  readonly #names: Names
  #latest: LastRead | undefined
  /** The collection of the document that was used last. Only in read-only queries: others may change the collection. */
  #latestCollection: CollectionInfo | undefined

  constructor(session: Session, names: Names) {
    this.#session = session
    this.#names = names
  }

  absence(doc: Doc, call: Call, asWhole = false): Absence | undefined {
    const { ref, state } = doc
    if (state === 'deleted') return absenceOf(doc, 'deleted')
    if (typeof state === 'object') return undefined
    // The id is -1 for an unknown name, and for a document without credentials.
    if (ref.id < 0n) return absenceOf(doc, 'not found')
    const { catalogue } = this.#session.transaction
    if (!this.#isDeletedNow(ref) && !catalogue.hasCollection(ref.database, ref.collection)) {
      return absenceOf(doc, 'collection deleted')
    }
    // `shown` (the secret of a new key or token) is defined only if this query has created the document.
    if (doc.shown !== undefined) return undefined
    this.#session.callSite = call
    if (!this.#mayRead(doc)) return absenceOf(doc, 'permission denied')
    // An index entry proves that the document exists, so this check needs no read that costs.
    const isFree = doc.foundIn !== undefined && !asWhole
    return this.#read(doc, call, isFree) === undefined ? absenceOf(doc, 'not found') : undefined
  }

  /** Reads at the call's read time. Returns undefined if the document does not exist or the caller may not read it. */
  readAsOf(ref: Ref, call: Call): Doc | undefined {
    const session = this.#session
    session.callSite = call
    const { at } = call
    if (!mayOnDocument(at === undefined ? 'read' : 'history_read', ref, session)) return undefined
    const version = session.with({ validTime: at }, () => this.#counted(ref, at, false))
    if (version === undefined) return undefined
    // `version.ref` is used instead of `ref`, because `version.ref` may already contain the cached text of the id.
    const state = stateOf(version, session)
    return new Doc(version.ref, this.collectionOf(ref), { readAt: at, state })
  }

  /** Predicates of roles read covered fields from the index entry, not from the document. */
  #mayRead({ foundIn, readAt, ref }: Doc): boolean {
    const session = this.#session
    if (readAt !== undefined) return mayOnDocument('history_read', ref, session)
    if (foundIn === undefined) return mayOnDocument('read', ref, session)
    const indexMatch = { document: ref, covered: foundIn.covered }
    return session.with({ indexMatch }, () => mayOnDocument('read', ref, session))
  }

  /** Repeated reads of the same document return the cached result until the query writes. */
  #read(doc: Doc, call: Call, isFree: boolean): DocumentVersion | undefined {
    if (typeof doc.state === 'object') return doc.state
    const at = doc.readAt ?? call.readTime
    const known = this.#latest
    const changes = this.#session.transaction.writes + this.#names.deleted.size
    if (known?.doc === doc && known.changes === changes && known.at === at && (isFree || !known.isFree)) {
      return known.read
    }
    const read = this.#readAt(doc.ref, at, isFree)
    this.#latest = { doc, at, isFree, changes, read }
    return read
  }

  #readAt(ref: Ref, at: number | undefined, isFree: boolean): DocumentVersion | undefined {
    const session = this.#session
    const read = () => this.#counted(ref, at, isFree)
    const version = session.validTime === at ? read() : session.with({ validTime: at }, read)
    return version && stateOf(version, session)
  }

  /** Counts the cost, unless `isFree` is true or this query has written the document. */
  #counted(ref: Ref, at: number | undefined, isFree: boolean): ReturnType<Session['transaction']['get']> {
    const session = this.#session
    const read = () => (this.#isDeletedNow(ref) ? this.#lastVersion(ref) : session.transaction.get(ref, at))
    return countingRead(ref, session, read, found => isFree || found?.ts instanceof TransactionTime)
  }

  /** True if the query has deleted the collection. Its documents stay in storage until the query ends. */
  #isDeletedNow({ collection }: Ref): boolean {
    const { deleted } = this.#names
    return deleted.size > 0 && deleted.has(BigInt(collection))
  }

  #lastVersion(ref: Ref) {
    for (const version of this.#session.transaction.versions(ref, { reverse: true })) {
      return version.action === 'delete' ? undefined : version
    }
    return undefined
  }

  #require(doc: Doc, call: Call, isFree = false): DocumentVersion {
    const read = this.#read(doc, call, isFree)
    // Callers check `absence` first, so the document exists.
    return read ?? { ts: 0, fields: new Map() }
  }

  storedText(doc: Doc, tagged: boolean, call: Call): string | undefined {
    if (doc.ref.collection < firstUserCollection) return undefined
    const read = this.#require(doc, call)
    const { renderCache } = read
    if (renderCache === undefined || this.#collectionInfo(doc.ref).parts.computed.size > 0) return undefined
    const texts = tagged ? taggedTexts : simpleTexts
    const known = texts.get(renderCache)
    const text = known === undefined ? newText(read, tagged, call) : known
    if (known === undefined) texts.set(renderCache, text)
    if (text === null) return undefined
    step(Math.ceil(text.length / cachedCharsPerStep))
    hintFullRead(doc, call)
    return text
  }

  fields(doc: Doc, call: Call): Struct {
    hintFullRead(doc, call)
    const read = this.#require(doc, call)
    const { fields } = read
    const readAt = doc.readAt ?? call.at
    const documentOf = (ref: Ref) => this.document(ref, readAt)
    const shown = new Map<string, Value>()
    const { ref } = doc
    if (hasNames(ref.collection)) shown.set('name', textIn(fields, 'name') ?? doc.name ?? '')
    else shown.set('id', new Id(ref.id))
    shown.set('coll', doc.collection)
    if (ref.collection >= firstUserCollection) {
      const { computed } = this.#collectionInfo(ref).parts
      const values = Array.from(computed, ([name, compute]) => [name, compute(doc, call)] as const)
      return addStored(shown, read, new Map(values), documentOf)
    }
    addTimes(shown, read, documentOf)
    for (const [name, value] of shownFields(doc, fields, this.#session)) {
      shown.set(name, runtimeOf(value, documentOf))
    }
    return shown
  }

  field(doc: Doc, name: string, call: Call): Value | undefined {
    if (doc.ref.collection < firstUserCollection) return this.fields(doc, call).get(name)
    const isFree = isCovered(doc, name)
    const computed = this.#collectionInfo(doc.ref).parts.computed.get(name)
    if (computed !== undefined) {
      const { foundIn } = doc
      const covering =
        isFree &&
        foundIn &&
        new Doc(doc.ref, doc.collection, { ...doc, foundIn: { ...foundIn, covered: 'all' } })
      return computed(covering || doc, call)
    }
    if (name !== 'data') this.hintUncovered(doc, name, call)
    const { fields, ts } = this.#require(doc, call, isFree)
    if (name === 'ts') return timeOf(ts)
    const readAt = doc.readAt ?? call.at
    const convert = (value: StoredValue | undefined) =>
      value === undefined ? undefined : runtimeOf(value, ref => this.document(ref, readAt))
    if (name === 'data' || name === 'ttl') return convert(fields.get(name))
    const data = fields.get('data')
    if (isReservedField(name) || !isObject(data)) return undefined
    return convert(data.get(name))
  }

  hintUncovered(doc: Doc, name: string, call: Call): void {
    const { foundIn } = doc
    if (foundIn === undefined || isCovered(doc, name)) return
    const text = `.${name} is not covered by the ${foundIn.name} index.`
    call.evaluation.hint('non_covered_document_read', text, call.span)
  }

  collectionOf(ref: Ref): Module {
    return nativeOf(ref.collection)?.module ?? this.#collectionInfo(ref).module
  }

  #collectionInfo(ref: Ref): CollectionInfo {
    const session = this.#session
    const known = this.#latestCollection
    if (known?.number === ref.collection && known.database === ref.database) return known
    const definition = collectionOf(ref)
    const info = {
      database: ref.database,
      number: ref.collection,
      module: this.#names.moduleOf(definition) ?? deletedCollection,
      parts: schemaPartsOf(definition, session),
    }
    if (!session.transaction.writable) this.#latestCollection = info
    return info
  }

  document(ref: Ref, readAt?: number): Value {
    const { database, transaction } = this.#session
    if (ref.database !== database) return '[db-external Document]'
    if (isNativeCollectionRef(ref)) return nativeOf(Number(ref.id))?.module ?? `[legacy ${ref.id}]`
    if (ref.collection === native.indexes) {
      return `[legacy index ${transaction.catalogue.nameOf(ref) ?? ref.id}]`
    }
    return this.reference(ref, readAt)
  }

  byId(collection: Module, id: bigint, { at }: Pick<Call, 'at'>): Doc {
    const ref = new Ref(this.#session.database, collectionNumber(collection), id)
    return new Doc(ref, this.collectionOf(ref), { readAt: at })
  }

  byName(collection: Module, name: string): Doc {
    const { database, transaction } = this.#session
    const number = nativeNumber(collection) ?? 0
    const ref = transaction.catalogue.resolve(database, number, name) ?? new Ref(database, number, -1n)
    return new Doc(ref, nativeModule(number), { name, state: 'by name' })
  }

  reference(ref: Ref, readAt?: number, foundIn?: IndexUse): Doc {
    const name = hasNames(ref.collection)
      ? (this.#session.transaction.catalogue.nameOf(ref) ?? '')
      : undefined
    return new Doc(ref, this.collectionOf(ref), { foundIn, name, readAt })
  }
}

type Version = NonNullable<ReturnType<Session['transaction']['get']>>

function stateOf(version: Version, session: Session): DocumentVersion {
  const { renderCache, ts } = version
  return { ts, fields: visibleFields(version, session), renderCache }
}

function timeOf(ts: DocumentVersion['ts']): Time | TransactionTime {
  return typeof ts === 'number' ? timeFromMicros(ts) : ts
}

/** Adds the write time and the time to live. */
function addTimes(
  shown: Map<string, Value>,
  { fields, ts }: DocumentVersion,
  documentOf: (ref: Ref) => Value,
): void {
  shown.set('ts', timeOf(ts))
  const ttl = fields.get('ttl')
  if (ttl !== undefined) shown.set('ttl', runtimeOf(ttl, documentOf))
}

/** Adds the fields of a document in a user collection, after `id` and `coll`. */
function addStored(
  shown: Map<string, Value>,
  read: DocumentVersion,
  computed: ReadonlyMap<string, Value>,
  documentOf: (ref: Ref) => Value,
): Struct {
  addTimes(shown, read, documentOf)
  for (const [name, value] of computed) shown.set(name, value)
  const data = read.fields.get('data')
  if (!isObject(data)) return shown
  let hidden: Map<string, Value> | undefined
  for (const [name, value] of data) {
    const field = runtimeOf(value, documentOf)
    if (isReservedField(name) || computed.has(name)) {
      hidden ??= new Map()
      hidden.set(name, field)
    } else shown.set(name, field)
  }
  if (hidden !== undefined) shown.set('data', hidden)
  return shown
}

/** Returns null if the version alone does not determine the text. */
function newText(read: DocumentVersion, tagged: boolean, call: Call): string | null {
  let hasReferences = false
  const nothing = () => {
    hasReferences = true
    return null
  }
  const fields = addStored(new Map(), read, new Map(), nothing)
  // The callbacks in `rendering` are never called: `nothing` has replaced all references by null, and a cached version
  // contains its final commit time.
  const rendering: Rendering = { call, transactionTime: () => '', encode: () => '', decorate: () => '' }
  const text = encodeJson(fields, rendering, tagged)
  // If a key begins with `@`, the tagged format encloses the object in the tag `@object`. Such a text is not cached.
  return hasReferences || text.startsWith('{"@') ? null : flat(text.slice(1, -1))
}

/** Adds a hint if the query reads all fields, but the index that found the document covers only some of them. */
function hintFullRead({ foundIn }: Doc, call: Call): void {
  if (foundIn === undefined || foundIn.covered === 'all') return
  const text = `Full documents returned from ${foundIn.name}.`
  call.evaluation.hint('non_covered_document_read', text, foundIn.span)
}

/** A covered field needs no read of the document. */
function isCovered({ foundIn }: Doc, name: string): boolean {
  return foundIn !== undefined && (foundIn.covered === 'all' || foundIn.covered.has(name))
}

function absenceOf(doc: Doc, cause: Absence['cause']): Absence {
  const notFound = {
    code: 'document_not_found',
    message: notFoundText({ collection: doc.collection.name, name: doc.name, ref: doc.ref }),
  } as const
  switch (cause) {
    case 'not found':
      return { cause, onField: notFound, onAssert: notFound }
    case 'deleted':
      return { cause, onField: undefined, onAssert: notFound }
    case 'collection deleted': {
      const message = msg`Document with id ${doc.ref.id} does not exist because the collection was deleted.`
      return { cause, onField: undefined, onAssert: { code: 'document_not_found', message } }
    }
    case 'permission denied':
      return {
        cause,
        onField: {
          code: 'permission_denied',
          message: msg`Insufficient privileges to perform the action.`,
        },
        onAssert: { code: 'null_value', message: msg`Null value, due to permission denied` },
      }
  }
}
