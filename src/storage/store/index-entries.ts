// Computes the entries of an index for one version of a document. Each term and each value of the index yields a list
// of values from the version. There is an entry for every combination of one element from each list. For example, if
// the term `data.tags` gives ["a", "b"] and the value `data.n` gives [1], the entries are (a | 1) and (b | 1). A
// combination whose terms are all null gives no entry. A combination whose values are all null gives no entry either,
// except in an index that is part of a collection's definition.
//
// The list of an array depends on the field. A field with `mva` (the default in version 4) yields the elements of the
// array, and null for an empty array. A field without `mva` (the default in version 10) yields the whole array, even an
// empty array. A binding without `within` yields the elements of its array; if the array is empty, the document has no
// entry.

import { step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { endOfTime } from '../../base/micros.ts'
import { RequestError } from '../../base/request-errors.ts'
import { casefold } from '../../values/casefold.ts'
import type { ObjectValue, Value } from '../../values/value.ts'
import { collectionOf, isArray, isObject, TransactionTime, UnresolvedRef } from '../../values/value.ts'
import { type IndexDefinition, type IndexField, type IndexSource, sourceOf } from './index-definition.ts'
import type { NameHistory } from './name-history.ts'
import type { NameLookup, StoreHooks, Version } from './store-contract.ts'

/** The data that distinguishes the entries of one document in one index. */
export interface EntryTuple {
  readonly terms: readonly Value[]
  readonly values: readonly Value[]
}

const none: readonly Value[] = []
const onlyEmpty: readonly (readonly Value[])[] = [none]
const onlyNull: readonly Value[] = [null]

/**
 * Returns the entries of `version` in an index. There are no entries if the index does not cover the collection of the
 * document, or if `version` is a delete.
 */
export function entryTuples(
  index: IndexDefinition,
  version: Version,
  hooks: StoreHooks,
  names?: NameHistory,
): EntryTuple[] {
  const source = sourceOf(index, version.ref.collection)
  if (source === undefined || version.action === 'delete') return []
  const { id } = version.ref
  const lookup = names && lookupFor(index, version, names)
  const undated = index.terms.some(mayHoldTime) ? { ...version, ts: ownTime } : version
  const terms = combine(extract(index.terms, { source, version: undated, hooks, names: lookup }), id)
  const values = combine(extract(index.values, { source, version, hooks, names: lookup }), id)
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
 * Returns a function that resolves names in bindings (computed fields). Names resolve as of the time when the version
 * was written, or as of the creation of the index if the index is newer.
 */
function lookupFor(index: IndexDefinition, { ts }: Version, names: NameHistory): NameLookup {
  const made = names.indexTime(index.ref)
  const before = made === undefined || ts instanceof TransactionTime ? endOfTime : Math.max(ts, made)
  return (nativeCollection, name) => names.holder(nativeCollection, name, before)
}

/**
 * Stands for the `ts` of the document while the terms are computed. Finally, null replaces the placeholder, because the
 * commit time is unknown when the key of an entry is built. The placeholder itself is not null, so a combination that
 * contains the placeholder gives an entry. The code compares the placeholder by identity.
 */
const ownTime = new TransactionTime('micros')

function mayHoldTime({ binding, path }: IndexField): boolean {
  return binding !== undefined || path?.[0] === 'ts'
}

/** Returns whether a combination of terms or values gives an entry: it has no elements, or an element is not null. */
function isIndexed(tuple: readonly Value[]): boolean {
  for (const value of tuple) if (value !== null) return true
  return tuple.length === 0
}

/** The data from which the terms and values of an index are extracted. */
interface Extraction {
  readonly source: IndexSource
  readonly version: Version
  readonly hooks: StoreHooks
  readonly names: NameLookup | undefined
}

function extract(fields: readonly IndexField[], from: Extraction): (readonly Value[])[] {
  const lists: (readonly Value[])[] = []
  for (const field of fields) lists.push(extractField(field, from))
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
 * Returns all combinations of one element from each list, in order. Throws a RequestError if there are too many
 * combinations. The error message contains the id `document`.
 */
function combine(lists: readonly (readonly Value[])[], document: bigint): readonly (readonly Value[])[] {
  if (lists.length === 0) return onlyEmpty
  if (lists.every(isSingle)) return [lists.map(first)]
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

function isSingle(list: readonly Value[]): boolean {
  return list.length === 1
}

function first(list: readonly Value[]): Value {
  return list[0] as Value
}

function extractField(field: IndexField, from: Extraction): readonly Value[] {
  let found: readonly Value[]
  if (field.binding !== undefined) found = bound(field, field.binding, from)
  else if (field.path === undefined || field.path.length === 0) return onlyNull
  else if (!field.multiValue) found = [whole(field.path, from.version)]
  else found = spread(field.path, from.version)
  return field.casefold ? found.map(fold) : found
}

function fold(value: Value): Value {
  return typeof value === 'string' ? casefold(value) : value
}

function bound(
  { multiValue, within }: IndexField,
  name: string,
  { hooks, names, source, version }: Extraction,
): readonly Value[] {
  const binding = source.bindings.get(name)
  const value = binding === undefined ? undefined : hooks.evaluateBinding(binding, version, names)
  if (value === undefined) return onlyNull
  if (within !== undefined) return multiValue ? spreadFrom(value, within, 0) : [wholeFrom(value, within, 0)]
  if (!isArray(value)) return [single(value)]
  return distinct(value.map(element => (isArray(element) ? null : single(element))))
}

/** Replaces an object or an unresolved reference with null, because an entry cannot contain such values. */
function single(value: Value): Value {
  return isObject(value) || value instanceof UnresolvedRef ? null : value
}

/** Returns the value of the first field of a path: a stored field, or a field that every document has, such as `ts`. */
function topField(name: string | bigint, version: Version): Value | undefined {
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

/** Follows one step of a path from `value`. Returns undefined if there is no value at this step. */
function follow(value: Value, name: string | bigint): Value | undefined {
  if (typeof name === 'bigint') return isArray(value) ? value[Number(name)] : undefined
  return isObject(value) ? (value as ObjectValue).get(name) : undefined
}

function whole(path: readonly (string | bigint)[], version: Version): Value {
  const top = topField(path[0] as string | bigint, version)
  return top === undefined ? null : wholeFrom(top, path, 1)
}

function wholeFrom(top: Value, path: readonly (string | bigint)[], from: number): Value {
  let value: Value | undefined = top
  for (let depth = from; depth < path.length && value !== undefined; depth++) {
    value = follow(value, path[depth] as string | bigint)
  }
  return value ?? null
}

function spread(path: readonly (string | bigint)[], version: Version): readonly Value[] {
  const top = topField(path[0] as string | bigint, version)
  return top === undefined ? onlyNull : spreadFrom(top, path, 1)
}

function spreadFrom(top: Value, path: readonly (string | bigint)[], from: number): readonly Value[] {
  const found: Value[] = []
  collect(top, path, from, found)
  if (found.length === 0) return onlyNull
  return found.length === 1 ? found : distinct(found)
}

/**
 * Follows the rest of a path, and adds the values at its end to `found`. At an array, follows the path in each element.
 */
function collect(value: Value, path: readonly (string | bigint)[], depth: number, found: Value[]): void {
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

/** Removes repeated scalars. Other repeated values may remain: they give the same entry twice, which has no effect. */
function distinct(values: readonly Value[]): readonly Value[] {
  const unique = new Set(values)
  return unique.size === values.length ? values : [...unique]
}
