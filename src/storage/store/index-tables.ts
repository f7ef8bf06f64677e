// Updates the tables of indexes when documents change. Every database also has built-in indexes, such as the index of
// the names of schema objects. The removed entries of built-in indexes are not stored.

import { assert } from '../../base/assert.ts'
import { byteText } from '../../base/byte-text.ts'
import { isInterruption } from '../../base/effort.ts'
import { epoch } from '../../base/micros.ts'
import { RequestError } from '../../base/request-errors.ts'
import { upsert } from '../../base/upsert.ts'
import { compareBytes } from '../../values/order.ts'
import {
  type CollectionId,
  type Micros,
  namedNatives,
  native,
  type Ref,
  type Value,
} from '../../values/value.ts'
import { entryDocumentBytes } from '../keys/key-reader.ts'
import {
  buildKey,
  builtinIndexes,
  documentsIndex,
  type EntryKeyParts,
  indexEndedKey,
  indexEventKey,
  indexLiveKey,
  indexTermsPrefix,
} from '../keys/keyspace.ts'
import { prefixRange } from '../keys/prefix.ts'
import { encodeTerms } from '../keys/terms.ts'
import { encodeTuple, isTruncated } from '../keys/tuple.ts'
import { type TransactionTimeSource, withTransactionTime } from '../keys/value-codec.ts'
import type { Bytes, Entry } from '../kv/kv-contract.ts'
import type { Journal, Overlay } from '../kv/overlay.ts'
import { encodeEntry, entryCollection, entrySince, entryTtl } from './entry-records.ts'
import type { IndexDefinition } from './index-definition.ts'
import { type EntryTuple, entryTuples, isStored } from './index-entries.ts'
import type { NameHistories } from './name-history.ts'
import { ttlOf } from './records.ts'
import { countRow, isExpired, type Snapshot } from './snapshot.ts'
import type { EntryChange, StoreHooks, Version } from './store-contract.ts'
import { checkTransactionBytes, countedBytes } from './transaction-limits.ts'

/** Defines how the entries of an index are computed from a version of a document, and how they are stored. */
export interface IndexTables {
  readonly number: number
  readonly descending: readonly boolean[]
  readonly unique: boolean
  /**
   * `live`: present entries. `entries`: present and past entries, for indexes that users have defined. `events`: events
   * only.
   */
  readonly keeps: 'live' | 'entries' | 'events'
  /** The number of terms and values in the definition: the cost of computing the entries of a version. */
  readonly width: number
  tuples(version: Version): readonly EntryTuple[]
}

export function userIndex(
  definition: IndexDefinition,
  hooks: StoreHooks,
  histories: NameHistories,
): IndexTables {
  const isComputed = definition.sources.some(({ bindings }) => bindings.size > 0)
  const history = isComputed ? histories.nameHistory(definition.ref.database) : undefined
  return {
    number: Number(definition.ref.id),
    descending: definition.values.map(value => value.reverse),
    unique: definition.unique,
    keeps: 'entries',
    width: definition.terms.length + definition.values.length,
    tuples: version => entryTuples(definition, version, hooks, history),
  }
}

function builtin(number: number, term: (version: Version) => readonly Value[] | undefined): IndexTables {
  return {
    number,
    descending: [],
    unique: true,
    keeps: 'live',
    width: 0,
    tuples: version => {
      const terms = version.action === 'delete' ? undefined : term(version)
      return terms === undefined ? [] : [{ terms, values: [] }]
    },
  }
}

function fieldTerm(name: string) {
  return (version: Version): readonly Value[] | undefined => {
    const value = version.fields.get(name)
    return value === undefined || value === null ? undefined : [value]
  }
}

const namesIndex = builtin(builtinIndexes.names, version => {
  const name = version.fields.get('name')
  return typeof name === 'string' ? nameTerms(version.ref.collection, name) : undefined
})
const tokensIndex = { ...builtin(builtinIndexes.tokensByInstance, fieldTerm('instance')), unique: false }
const credentialsIndex = builtin(builtinIndexes.credentialsByInstance, fieldTerm('instance'))
const providersIndex = builtin(builtinIndexes.providersByIssuer, fieldTerm('issuer'))

/** Returns the terms of a schema object in the built-in index of names. */
export function nameTerms(nativeCollection: CollectionId, name: string): readonly Value[] {
  return [BigInt(nativeCollection), name]
}

const noIndexes: readonly IndexTables[] = []
const builtinsByCollection = new Map<CollectionId, readonly IndexTables[]>([
  ...[...namedNatives].map((collection): [CollectionId, IndexTables[]] => [collection, [namesIndex]]),
  [native.tokens, [tokensIndex]],
  [native.credentials, [credentialsIndex]],
  [native.access_providers, [namesIndex, providersIndex]],
])

const oneEmptyTuple: readonly EntryTuple[] = [{ terms: [], values: [] }]

/**
 * Only the events of the set `documents(collection)` are stored, because the rows of the documents serve as its
 * entries.
 */
export function documentsTables(collection: CollectionId): IndexTables {
  return {
    number: documentsIndex(collection),
    descending: [],
    unique: false,
    keeps: 'events',
    width: 0,
    tuples: version => (version.action === 'delete' ? [] : oneEmptyTuple),
  }
}

export function builtinIndexesOf(collection: CollectionId): readonly IndexTables[] {
  return builtinsByCollection.get(collection) ?? noIndexes
}

/** The parts of the key are encoded. */
export interface PreparedEntry {
  readonly parts: EntryKeyParts
  readonly liveKey: Bytes
  readonly document: Ref
  readonly ttl: Micros
  readonly terms: readonly Value[]
  readonly values: readonly Value[]
}

/** No two entries have the same key. */
type PreparedEntries = readonly PreparedEntry[]

const noEntries: PreparedEntries = []

/** Returns the entries of a new version. Throws a RequestError if the version violates a rule for entries. */
export function prepareEntries(
  index: IndexTables,
  version: Version | undefined,
  commitTime: TransactionTimeSource,
): PreparedEntries {
  return version === undefined
    ? noEntries
    : entriesOf(index, version, index.tuples(version), commitTime, true)
}

/** `isNew`: a write adds the version. False: the version is stored already. */
function entriesOf(
  index: IndexTables,
  version: Version,
  tuples: readonly EntryTuple[],
  commitTime: TransactionTimeSource,
  isNew: boolean,
): PreparedEntries {
  if (tuples.length === 0) return noEntries
  const ttl = ttlOf(version.fields)
  const entries: PreparedEntry[] = []
  const size = tuples.length < fewEntries ? undefined : new RowsSize()
  for (const tuple of tuples) {
    const entry = entryOf(index, version.ref, ttl, tuple, commitTime, isNew)
    if (entry === undefined) continue
    entries.push(entry)
    size?.add(entry)
  }
  return entries.length < 2 ? entries : [...byKey(entries).values()]
}

/** Undefined if the entry is not stored. */
function entryOf(
  index: IndexTables,
  document: Ref,
  ttl: Micros,
  tuple: EntryTuple,
  commitTime: TransactionTimeSource,
  isNew: boolean,
): PreparedEntry | undefined {
  const values = withTimes(tuple.values, commitTime)
  const terms = withTimes(tuple.terms, commitTime)
  if (!isStored({ terms, values }, isNew)) return undefined
  const parts: EntryKeyParts = {
    database: document.database,
    index: index.number,
    terms: encodeTerms(terms),
    values: encodeTuple(values, index.descending),
    document,
  }
  return { parts, liveKey: indexLiveKey(parts), document, ttl, terms, values }
}

/** A version with fewer entries is not measured: its rows are small enough for a transaction. */
const fewEntries = 32

/**
 * Adds up the bytes of the live rows of a version. Throws a RequestError if no transaction can write the rows, before
 * the rows take memory: a few kilobytes of values, repeated for 100 000 terms, are gigabytes.
 */
class RowsSize {
  readonly #keys = new Set<string>()
  /** The sizes of records by the values that they contain. Many entries have the same values. */
  readonly #records = new Map<readonly Value[], number>()
  #bytes = 0

  add(entry: PreparedEntry): void {
    const key = byteText(entry.liveKey)
    if (this.#keys.has(key)) return
    this.#keys.add(key)
    const record = upsert(this.#records, entry.values, () => recordOf(entry, epoch).length)
    this.#bytes += key.length + record
    checkTransactionBytes(this.#bytes)
  }
}

/** Replaces placeholders for the transaction's time. Returns the same array if it contains only scalars. */
function withTimes(values: readonly Value[], commitTime: TransactionTimeSource): readonly Value[] {
  for (let at = 0; at < values.length; at++) {
    const value = values[at]
    if (typeof value === 'object' && value !== null)
      return values.map(each => withTransactionTime(each, commitTime))
  }
  return values
}

export function byKey(entries: PreparedEntries): Map<string, PreparedEntry> {
  const found = new Map<string, PreparedEntry>()
  for (const entry of entries) found.set(byteText(entry.liveKey), entry)
  return found
}

/**
 * Empty if the version has too many entries, or if their rows have too many bytes for a transaction. This is possible
 * if the index was created after the version.
 */
export function entriesOfStored(
  index: IndexTables,
  version: Version | undefined,
  commitTime: TransactionTimeSource,
): PreparedEntries {
  if (version === undefined) return noEntries
  return unlessInvalid(() => entriesOf(index, version, index.tuples(version), commitTime, false))
}

/** Returns an empty list if `compute` throws because the version violates a rule for entries. */
function unlessInvalid<T>(compute: () => readonly T[]): readonly T[] {
  try {
    return compute()
  } catch (error) {
    if (error instanceof RequestError && !isInterruption(error)) return []
    throw error
  }
}

/** The entries of a document in one index, before and after a write. */
interface EntryReplacement {
  readonly before: PreparedEntries
  readonly after: PreparedEntries
  readonly time: Micros
  /** Returns the minimum valid time of the collection. Called only if the row of an entry is missing. */
  readonly minimum: () => Micros
}

/** The effect of a write on an index. */
interface ReplacementEffect {
  readonly added: readonly PreparedEntry[]
  /** The bytes of the written rows that count towards the limit of the transaction. */
  readonly bytes: number
}

/**
 * Writes the rows for a document whose version `before` is replaced by the version `after`: removes the entries that
 * only the earlier version has, and adds the entries that only the new version has.
 */
export function replaceEntries(
  overlay: Overlay,
  journal: Journal,
  index: IndexTables,
  change: EntryReplacement,
): ReplacementEffect {
  const { before, after } = change
  let added = after
  let bytes = 0
  if (before.length > 0) {
    for (const entry of notIn(after, before)) bytes += closeEntry(overlay, journal, index, entry, change)
    added = notIn(before, after)
  }
  for (const entry of added) {
    const row = index.keeps === 'events' ? eventRow(entry, change.time, 'add') : entryRow(entry, change.time)
    bytes += writeRow(overlay, row, journal)
  }
  return { added, bytes }
}

/** The elements of `entries` that `others` lacks. Entries with different `ttl` values are different entries. */
export function notIn(others: PreparedEntries, entries: PreparedEntries): PreparedEntry[] {
  const found = byKey(others)
  return entries.filter(entry => found.get(byteText(entry.liveKey))?.ttl !== entry.ttl)
}

/** Entries whose keys {@link entryChanges} computes between two pauses. */
const entriesPerPause = 500

/**
 * Yields the entries that only one of two versions has, the removed ones first, and undefined where the caller may
 * pause: 100 000 entries take half a second. An undefined version has no entries.
 */
export function* entryChanges(
  index: IndexTables,
  before: Version | undefined,
  after: Version | undefined,
  commitTime: TransactionTimeSource,
): Generator<EntryChange | undefined, void> {
  const tuplesOf = (version: Version | undefined) =>
    version === undefined ? [] : unlessInvalid(() => index.tuples(version))
  const [oldTuples, presentTuples] = [tuplesOf(before), tuplesOf(after)]
  // Many updates change no indexed field.
  if (areEqualTuples(oldTuples, presentTuples)) return
  const old = yield* keyedEntries(index, before, oldTuples, commitTime)
  const present = yield* keyedEntries(index, after, presentTuples, commitTime)
  yield* changesTo(present, 'remove', old)
  yield* changesTo(old, 'add', present)
}

/** Yields undefined where the caller may pause. Returns no entries if the version violates a rule for entries. */
function* keyedEntries(
  index: IndexTables,
  version: Version | undefined,
  tuples: readonly EntryTuple[],
  commitTime: TransactionTimeSource,
): Generator<undefined, ReadonlyMap<string, PreparedEntry>> {
  const found = new Map<string, PreparedEntry>()
  if (version === undefined) return found
  const ttl = ttlOf(version.fields)
  const size = tuples.length < fewEntries ? undefined : new RowsSize()
  try {
    for (const [at, tuple] of tuples.entries()) {
      if (at % entriesPerPause === entriesPerPause - 1) yield undefined
      const entry = entryOf(index, version.ref, ttl, tuple, commitTime, false)
      if (entry === undefined) continue
      size?.add(entry)
      found.set(byteText(entry.liveKey), entry)
    }
  } catch (error) {
    if (error instanceof RequestError && !isInterruption(error)) return new Map()
    throw error
  }
  return found
}

/**
 * Yields a change for each entry whose key `others` lacks, and undefined where the caller may pause. Unlike
 * {@link notIn}, this function ignores the `ttl` of entries: an {@link EntryChange} has none.
 */
function* changesTo(
  others: ReadonlyMap<string, PreparedEntry>,
  action: EntryChange['action'],
  entries: ReadonlyMap<string, PreparedEntry>,
): Generator<EntryChange | undefined, void> {
  let seen = 0
  for (const [key, entry] of entries) {
    if (!others.has(key)) yield changeOf(action, entry)
    else if (++seen % entriesPerPause === 0) yield undefined
  }
}

/** False also for equal objects that are not the same object. */
function areEqualTuples(tuples: readonly EntryTuple[], others: readonly EntryTuple[]): boolean {
  const areSame = (values: readonly Value[], same: readonly Value[] | undefined) =>
    values.length === same?.length && values.every((value, at) => Object.is(value, same[at]))
  return (
    tuples.length === others.length &&
    tuples.every(
      ({ terms, values }, at) => areSame(terms, others[at]?.terms) && areSame(values, others[at]?.values),
    )
  )
}

function changeOf(action: EntryChange['action'], { parts, terms, values }: PreparedEntry): EntryChange {
  return { action, terms, values, termsKey: byteText(parts.terms) }
}

/** Removes an entry, and returns the number of bytes of the written row. */
function closeEntry(
  overlay: Overlay,
  journal: Journal,
  index: IndexTables,
  entry: PreparedEntry,
  { minimum, time }: EntryReplacement,
): number {
  if (index.keeps === 'events') return writeRow(overlay, eventRow(entry, time, 'remove'), journal)
  const live = overlay.get(entry.liveKey)
  if (live === undefined) {
    // The sweeper removes an expired document in batches (expired-rows.ts), so some of its entries may be missing.
    assert(
      isBeingBuilt(overlay, index, entry) || entry.ttl <= minimum(),
      'an entry that ends is in its index',
    )
    return 0
  }
  overlay.set(entry.liveKey, undefined, journal)
  if (index.keeps === 'live') return 0
  const since = entrySince({ key: entry.liveKey, value: live })
  return writeRow(overlay, endedRow(entry, since, time), journal)
}

/** Writes a row, and returns its bytes that count towards the limit of the transaction. */
function writeRow(overlay: Overlay, row: Entry, journal: Journal): number {
  overlay.set(row.key, row.value, journal)
  return countedBytes(row)
}

/** During a build, entries of a document may be missing, because the build adds them later. */
export function isBeingBuilt(
  overlay: Overlay,
  { keeps, number }: IndexTables,
  { parts }: PreparedEntry,
): boolean {
  return keeps === 'entries' && overlay.get(buildKey(parts.database, number)) !== undefined
}

/** A version whose time is known. */
export type StoredVersion = Version & { readonly ts: Micros }

export function entryRow(entry: PreparedEntry, since: Micros): Entry {
  return { key: entry.liveKey, value: recordOf(entry, since) }
}

export function endedRow(entry: PreparedEntry, since: Micros, until: Micros): Entry {
  return { key: indexEndedKey(entry.parts, until), value: recordOf(entry, since) }
}

export function eventRow(entry: PreparedEntry, ts: Micros, action: EntryChange['action']): Entry {
  const value = recordOf(entry, undefined, action === 'remove')
  return { key: indexEventKey(entry.parts, ts, action), value }
}

/** `since`: when the entry was added; undefined for the record of an event. */
function recordOf(entry: PreparedEntry, since: Micros | undefined, removed = false): Bytes {
  const { document, parts, ttl, values } = entry
  return encodeEntry({ document, ttl, values, truncated: isTruncated(parts.values.bytes), since, removed })
}

/**
 * Returns whether another document has a live entry with the same terms and values. Ignores documents of deleted
 * collections.
 */
export function isDuplicate(
  overlay: Overlay,
  entry: PreparedEntry,
  snapshot: Snapshot,
  hasCollection: (collection: CollectionId) => boolean,
): boolean {
  const { parts, liveKey } = entry
  const prefix = indexTermsPrefix('live', parts.database, parts.index, parts.terms)
  const documentStart = prefix.length + parts.values.bytes.length
  const { tie } = parts.values
  for (const row of overlay.range(prefixRange(liveKey.subarray(0, documentStart)))) {
    countRow()
    if (compareBytes(row.key.subarray(documentStart + entryDocumentBytes), tie) !== 0) continue
    if (compareBytes(row.key, liveKey) === 0) continue
    if (!isExpired(snapshot, entryTtl(row)) && hasCollection(entryCollection(row))) return true
  }
  return false
}
