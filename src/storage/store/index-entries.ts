// The rules for the entries of indexes, in both languages. Each term and each value of an index yields a list of values
// from a version of a document (`fieldValues`). There is an entry for every combination of one element from each list
// (`entryTuples`). For example, if the term `data.tags` gives ["a", "b"] and the value `data.n` gives [1], the entries
// are (a | 1) and (b | 1). A combination whose terms are all null gives no entry. A combination whose values are all
// null gives no entry either, except in an index that is part of a collection's definition. Finally, `isStored` rejects
// or omits entries that are too long.

import { step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'
import { casefold } from '../../values/casefold.ts'
import type { ObjectValue, Value } from '../../values/value.ts'
import { collectionOf, isArray, isObject, TransactionTime, UnresolvedRef } from '../../values/value.ts'
import { termsSize } from '../keys/terms.ts'
import { encodeValue } from '../keys/value-codec.ts'
import { type IndexDefinition, type IndexField, type Path, sourceOf } from './index-definition.ts'
import type { NameHistory } from './name-history.ts'
import type { StoreHooks, Version } from './store-contract.ts'

const indexEntriesLimits = {
  /** Maximum number of bytes of a term or value of an index entry. Entries with longer terms or values are omitted. */
  indexValueBytesMax: 32_767,
} as const

/** Distinguishes the entries of one document in one index. */
export interface EntryTuple {
  readonly terms: readonly Value[]
  readonly values: readonly Value[]
}

const none: readonly never[] = []
const onlyEmpty: readonly (readonly Value[])[] = [none]
const onlyNull: readonly Value[] = [null]

/** Undefined if the evaluation fails. */
type BindingValue = (binding: string, version: Version) => Value | undefined

/** None if the index does not cover the collection of the document, or if `version` is a delete. */
export function entryTuples(
  index: IndexDefinition,
  version: Version,
  hooks: StoreHooks,
  names?: NameHistory,
): EntryTuple[] {
  const source = sourceOf(index, version.ref.collection)
  if (source === undefined || version.action === 'delete') return []
  const { id } = version.ref
  const undated = index.terms.some(mayContainTime) ? { ...version, ts: ownTime } : version
  const bindingValue = (name: string, document: Version): Value | undefined => {
    const code = source.bindings.get(name)
    return code && hooks.evaluateBinding(code, document, names?.lookupFor(index.ref, version.ts))
  }
  const terms = combine(valuesOf(index.terms, undated, bindingValue), id)
  const values = combine(valuesOf(index.values, version, bindingValue), id)
  const indexed = index.isOwn || values.every(isIndexed) ? values : values.filter(isIndexed)
  checkWidth(terms.length * indexed.length, id)
  const tuples: EntryTuple[] = []
  for (const term of terms) {
    if (!isIndexed(term)) continue
    const plain =
      undated !== version && term.includes(ownTime)
        ? term.map(each => (each === ownTime ? null : each))
        : term
    for (const value of indexed) tuples.push({ terms: plain, values: value })
  }
  return tuples
}

/**
 * Stands for the `ts` of the document, compared by identity, while the terms are computed. Finally, null replaces it,
 * because the commit time is unknown when the key of an entry is built. It is not null itself, so a combination that
 * contains it gives an entry.
 */
const ownTime = new TransactionTime('micros')

function mayContainTime({ binding, path }: IndexField): boolean {
  return binding !== undefined || path?.[0] === 'ts'
}

/** A combination gives an entry if it has no elements, or if an element is not null. */
function isIndexed(tuple: readonly Value[]): boolean {
  for (const value of tuple) if (value !== null) return true
  return tuple.length === 0
}

function valuesOf(
  fields: readonly IndexField[],
  version: Version,
  bindingValue: BindingValue,
): (readonly Value[])[] {
  const lists: (readonly Value[])[] = []
  for (const field of fields) lists.push(fieldValues(field, version, bindingValue))
  return lists
}

function checkWidth(entries: number, document: bigint): void {
  if (entries <= limits.queryWidthMax) return
  throw new RequestError(
    'bad request',
    msg`Index entries for doc ${document} (${entries}) exceeds threshold (${limits.queryWidthMax})`,
  )
}

/**
 * All combinations of one element from each list, in order. Throws a RequestError, which names the id `document`, if
 * there are too many.
 */
function combine(lists: readonly (readonly Value[])[], document: bigint): readonly (readonly Value[])[] {
  if (lists.length === 0) return onlyEmpty
  if (lists.every(list => list.length === 1)) return [lists.map(list => list[0] as Value)]
  checkWidth(
    lists.reduce((product, list) => product * list.length, 1),
    document,
  )
  let tuples: (readonly Value[])[] = [none]
  for (const list of lists) {
    tuples = tuples.flatMap(tuple => {
      step(list.length)
      return list.map(value => [...tuple, value])
    })
  }
  return tuples
}

/**
 * The values of a term or value of an index. A field with `mva` (the default in version 4) yields the elements of an
 * array, and null for an empty array. A field without `mva` (the default in version 10) yields the whole array, even an
 * empty array. A binding without `within` yields the elements of its array; if the array is empty, the document has no
 * entry.
 */
function fieldValues(field: IndexField, version: Version, bindingValue: BindingValue): readonly Value[] {
  const { binding, mva, path = none, within } = field
  const top = binding === undefined ? topField(path[0], version) : bindingValue(binding, version)
  if (top === undefined) return onlyNull
  let found: readonly Value[]
  if (binding === undefined) found = mva ? spread(top, path, 1) : [valueAlong(top, path, 1)]
  else if (within === undefined) found = elementsOf(top)
  else found = mva ? spread(top, within, 0) : [valueAlong(top, within, 0)]
  return field.casefold ? found.map(fold) : found
}

/** A stored field, or a field that every document has, such as `ts`. */
function topField(name: Value | undefined, version: Version): Value | undefined {
  switch (name) {
    case 'ref':
      return version.ref
    case 'ts':
      return version.ts instanceof TransactionTime ? version.ts : BigInt(version.ts)
    case 'class':
    case 'collection':
      return collectionOf(version.ref)
  }
  return typeof name === 'string' ? version.fields.get(name) : undefined
}

function fold(value: Value): Value {
  return typeof value === 'string' ? casefold(value) : value
}

function elementsOf(value: Value): readonly Value[] {
  if (!isArray(value)) return [indexable(value)]
  return distinct(value.map(element => (isArray(element) ? null : indexable(element))))
}

/** Entries cannot contain objects or unresolved references, so null replaces them. */
function indexable(value: Value): Value {
  return isObject(value) || value instanceof UnresolvedRef ? null : value
}

/** Undefined if there is no value at this step of a path. */
function follow(value: Value, name: string | bigint): Value | undefined {
  if (typeof name === 'bigint') return isArray(value) ? value[Number(name)] : undefined
  return isObject(value) ? (value as ObjectValue).get(name) : undefined
}

function valueAlong(top: Value, path: Path, from: number): Value {
  let value: Value | undefined = top
  for (let depth = from; depth < path.length && value !== undefined; depth++) {
    value = follow(value, path[depth] as string | bigint)
  }
  return value ?? null
}

function spread(top: Value, path: Path, from: number): readonly Value[] {
  const found: Value[] = []
  collect(top, path, from, found)
  if (found.length === 0) return onlyNull
  return found.length === 1 ? found : distinct(found)
}

/** Follows the rest of a path, at an array in each element, and adds the values at its end to `found`. */
function collect(value: Value, path: Path, depth: number, found: Value[]): void {
  step()
  const name = path[depth]
  if (isArray(value) && typeof name !== 'bigint') {
    for (const element of value) collect(element, path, depth, found)
    return
  }
  if (name === undefined) {
    found.push(isObject(value) ? null : value)
    return
  }
  const next = follow(value, name)
  if (next === undefined) found.push(null)
  else collect(next, path, depth + 1, found)
}

/** Other repeated values may remain: they give the same entry twice, which has no effect. */
function distinct(values: readonly Value[]): readonly Value[] {
  const unique = new Set(values)
  return unique.size === values.length ? values : [...unique]
}

/**
 * Returns whether an index stores an entry. Entries with too long terms or values are omitted, as the protocol
 * requires. Throws a RequestError if the key of an entry of a new version is too long. For a stored version, the index
 * omits an entry with long terms instead, because earlier releases of Terrarium omitted such entries instead of
 * rejecting the write. A single term that is not long always fits into a key.
 */
export function isStored({ terms, values }: EntryTuple, isNew: boolean): boolean {
  if (terms.some(isLong) || values.some(isLong)) return false
  if (!isNew) return terms.length < 2 || termsSize(terms) <= limits.indexKeyBytesMax
  checkKeyBytes(terms, values)
  return true
}

function isLong(value: Value): boolean {
  if (typeof value === 'string') {
    return (
      value.length * 3 > indexEntriesLimits.indexValueBytesMax &&
      Buffer.byteLength(value) > indexEntriesLimits.indexValueBytesMax
    )
  }
  if (value instanceof Uint8Array) return value.length > indexEntriesLimits.indexValueBytesMax
  if (Array.isArray(value) || value instanceof Map)
    return encodeValue(value).length > indexEntriesLimits.indexValueBytesMax
  return false
}

/**
 * The hosted service, whose protocol this store implements, counts these bytes of a key in addition to terms and
 * values: database, index, document and time.
 */
const keyOverheadBytes = 35

/**
 * Throws a RequestError if the key would be too long in the hosted service. The keys of this store are shorter, because
 * it truncates or hashes long terms and values.
 */
function checkKeyBytes(terms: readonly Value[], values: readonly Value[]): void {
  let most = keyOverheadBytes
  for (const term of terms) most += bytesAtMost(term)
  for (const value of values) most += bytesAtMost(value)
  if (most <= limits.indexKeyBytesMax) return
  const bytes = keyOverheadBytes + termsSize([...terms, ...values])
  if (bytes > limits.indexKeyBytesMax) throw keyTooLong(bytes)
}

/**
 * An upper bound for the encoded bytes, without encoding the value; for an array or object, the maximum size of an
 * indexed value.
 */
function bytesAtMost(value: Value): number {
  if (typeof value === 'string') return 5 + value.length * 3
  if (value instanceof Uint8Array) return 5 + value.length
  return Array.isArray(value) || value instanceof Map ? indexEntriesLimits.indexValueBytesMax : 32
}

/** `bytes`: the size of the key. */
export function keyTooLong(bytes: number): RequestError {
  return new RequestError(
    'bad request',
    msg`Key bytes (${bytes}) exceeds threshold (${limits.indexKeyBytesMax})`,
  )
}
