// The rules for indexes. The source, terms and values of an index never change after its creation. The store builds the
// index, and sets `active` when it is complete.

import { isDeepStrictEqual } from 'node:util'
import {
  type IndexDefinition,
  type IndexSource,
  indexDefinition,
} from '../../storage/store/index-definition.ts'
import type { Version } from '../../storage/store/store-contract.ts'
import { equalValues } from '../../values/equality.ts'
import {
  isArray,
  isObject,
  itemsOf,
  Lambda,
  native,
  type ObjectValue,
  Ref,
  type Value,
} from '../../values/value.ts'
import type { FieldFailure } from '../failure.ts'
import type { Session } from '../session.ts'
import { destructive, isProtected } from './databases.ts'
import { cleanField, flag, map, name, pick, text, whole } from './fields.ts'
import {
  collectionRefType,
  type Draft,
  type FieldCheck,
  failure,
  invalidType,
  type Resource,
} from './resource.ts'

const indexesLimits = {
  /** Maximum number of partitions of an index. */
  indexPartitionsMax: 8,
} as const

const isCollection = (value: Value): value is Ref =>
  value instanceof Ref && value.collection === native.collections

/**
 * The field `source` of an index is one item or an array of items. An item names a collection, several collections or
 * the wildcard, perhaps with bindings. This check is about the form of each item; {@link sourceFailures} checks what the
 * items name, their combination and their bindings.
 */
const sourceField: FieldCheck = (value, path) =>
  itemsOf(value).flatMap(item => {
    if (item === '_' || isCollection(item)) return []
    return isObject(item) ? objectFailures(item) : [invalidType(path, item, 'SourceClass')]
  })

function objectFailures(item: ObjectValue): readonly FieldFailure[] {
  const collections = item.get('collection') ?? item.get('class')
  if (collections === undefined) return [failure(['class'], { kind: 'required' })]
  const wrong = itemsOf(collections).filter(
    each => !isCollection(each) && (each !== '_' || isArray(collections)),
  )
  const failures = wrong.slice(0, 1).map(each => invalidType(['class'], each, collectionRefType))
  const fields = item.get('fields')
  if (fields === undefined) return failures
  if (!isObject(fields)) return [...failures, invalidType(['fields'], fields, 'Map')]
  const badBindings = [...fields].filter(([, body]) => !(body instanceof Lambda))
  return [...failures, ...badBindings.map(([name, body]) => invalidType(['fields', name], body, 'Query'))]
}

/** Returns the ids of the collections in a source, or `'_'` for the wildcard. */
function collectionsOf({ collections }: IndexSource): readonly (number | '_')[] {
  return collections === '_' ? ['_'] : collections
}

/** Normalizes a source to a map from each collection to its bindings. The first item of a collection applies. */
function normalizedSource({ sources }: IndexDefinition): ObjectValue {
  const parts = sources.flatMap(source =>
    collectionsOf(source).map((collection): [string, Value] => [
      String(collection),
      source.bindings as ReadonlyMap<string, Lambda>,
    ]),
  )
  return new Map(parts.reverse())
}

/** `class` is an older name for `collection`, and is also removed if both keys are present. */
function withoutUnknownSourceKeys(item: ObjectValue): ObjectValue {
  return pick(item, [item.has('collection') ? 'collection' : 'class', 'fields'])
}

function sourceFailures(index: IndexDefinition, session: Session): readonly FieldFailure[] {
  const { sources } = index
  const collections = sources.flatMap(collectionsOf)
  const hasBindings = sources.some(({ bindings }) => bindings.size > 0)
  const failures: FieldFailure[] = []
  if (collections.includes(native.databases)) {
    failures.push(failure(['source'], { kind: 'reference', why: 'missing' }))
  }
  if (sources.length > 1 && collections.includes('_') && !hasBindings) {
    failures.push(failure(['source'], { kind: 'mixed wildcards' }))
  }
  if (collections.filter(each => each === '_').length > 1) {
    failures.push(failure(['source'], { kind: 'several wildcards' }))
  }
  if (repeats(sources)) {
    failures.push(failure(['source'], { kind: 'repeated source' }))
  }
  const used = new Set([...index.terms, ...index.values].map(({ binding }) => binding))
  return [...failures, ...sources.flatMap((source, at) => bindingFailures(source, at, used, session))]
}

/** Returns whether two items of a source contain the same collections. */
function repeats(sources: readonly IndexSource[]): boolean {
  const keys = sources.map(source => collectionsOf(source).map(String).sort().join())
  return new Set(keys).size < keys.length
}

function bindingFailures(
  { bindings }: IndexSource,
  sourceIndex: number,
  used: ReadonlySet<string | undefined>,
  session: Session,
): readonly FieldFailure[] {
  return [...bindings].flatMap(([name, body], index) => {
    const path = ['source', String(sourceIndex), 'fields', String(index), name]
    const { effect, parameters } = session.propertiesOfCode(body)
    // The text for this failure covers both conditions: the binding "must be a pure unary function".
    if (effect !== 'pure' || parameters !== 1) return [failure(path, { kind: 'impure binding' })]
    return used.has(name) ? [] : [failure(path, { kind: 'unused binding' })]
  })
}

const partitionsMax = BigInt(indexesLimits.indexPartitionsMax)

const partitions: FieldCheck = (value, path) => {
  const wrong = whole(value, path)
  if (wrong.length > 0 || ((value as bigint) >= 1n && (value as bigint) <= partitionsMax)) return wrong
  return [failure(path, { kind: 'out of range', value, least: 1n, most: partitionsMax })]
}

/**
 * An object or an array of objects. As in the hosted service, the path of a failure does not contain the position in
 * the array.
 */
const indexFields: FieldCheck = value =>
  itemsOf(value).flatMap(item =>
    isObject(item) ? indexFieldFailures(item) : [invalidType([], item, 'Term')],
  )

function indexFieldFailures(item: ObjectValue): readonly FieldFailure[] {
  const failures: FieldFailure[] = []
  const field = item.get('field')
  if (field === undefined && item.get('binding') === undefined) {
    failures.push(failure(['field'], { kind: 'one of required', names: ['field', 'binding'] }))
  }
  if (field !== undefined && !isPath(field)) failures.push(invalidType(['field'], field, 'String Array'))
  const checks: readonly (readonly [string, FieldCheck])[] = [
    ['binding', text],
    ['reverse', flag],
    ['mva', flag],
    ['transform', transform],
  ]
  for (const [key, check] of checks) {
    const value = item.get(key)
    if (value !== undefined) failures.push(...check(value, [key]))
  }
  return failures
}

const transform: FieldCheck = (value, path) => {
  const wrong = text(value, path)
  if (wrong.length > 0 || value === 'casefold') return wrong
  return [failure(path, { kind: 'transform', name: value })]
}

function isPath(value: Value): boolean {
  if (!isArray(value)) return typeof value === 'string'
  return value.length > 0 && value.every(step => typeof step === 'string' || typeof step === 'bigint')
}

const knownFieldKeys = ['field', 'binding', 'reverse', 'transform', 'mva']

export const indexResource: Resource = {
  fields: {
    active: { check: flag },
    serialized: { check: flag },
    name: { check: name, required: true },
    source: { check: sourceField, required: true },
    terms: { check: indexFields },
    values: { check: indexFields },
    unique: { check: flag },
    partitions: { check: partitions },
    permissions: {},
    data: { check: map },
  },
  defaults: () =>
    new Map<string, Value>([
      ['active', false],
      ['serialized', true],
    ]),
  preservedOnReplace: ['name', 'unique'],
  strictReferences: true,
  complete(draft) {
    const { fields } = draft
    cleanField(fields, 'source', withoutUnknownSourceKeys)
    for (const key of ['terms', 'values']) cleanField(fields, key, item => pick(item, knownFieldKeys))
    const index = indexDefinition(draft)
    if (!index.publicRead) fields.delete('permissions')
    if (draft.mode === 'replace' && !fields.has('active'))
      draft.failures.push(failure(['active'], { kind: 'required' }))
    if (draft.failures.length > 0) return
    draft.failures.push(...sourceFailures(index, draft.session))
    if (!fields.has('partitions')) fields.set('partitions', defaultPartitions(index))
    if (draft.previous?.fields.get('active') === true) fields.set('active', true)
    if (draft.previous) rejectRedefinition(draft, draft.previous)
  },
  beforeDelete(version, session) {
    if (isProtected(version.ref.database, session)) throw destructive('delete index')
  },
}

/**
 * The default number of partitions. As in the hosted service, the entries of one term are divided among several
 * partitions if many documents share the term: if an index has no terms, or if its only term is the field `class` (the
 * collection of a document). Unique indexes ignore the number, because they are never partitioned.
 */
function defaultPartitions({ terms }: IndexDefinition): bigint {
  const byClass = terms.length === 1 && terms[0]?.path?.join() === 'class'
  return terms.length === 0 || byClass ? partitionsMax : 1n
}

/** Allows another notation of the same definition. */
function rejectRedefinition(draft: Draft, previous: Version): void {
  const { failures, fields } = draft
  const [partitionsBefore, partitions] = [effectivePartitions(previous.fields), effectivePartitions(fields)]
  if (partitions !== partitionsBefore) {
    failures.push(failure([], { kind: 'partitions changed', before: partitionsBefore, after: partitions }))
  }
  const [before, after] = [indexDefinition(previous), indexDefinition(draft)]
  const isSame =
    equalValues(normalizedSource(after), normalizedSource(before)) &&
    isDeepStrictEqual([after.terms, after.values], [before.terms, before.values])
  if (!isSame) failures.push(failure([], { kind: 'index changed' }))
}

function effectivePartitions(fields: ObjectValue): Value {
  return fields.get('unique') === true ? 1n : (fields.get('partitions') ?? null)
}
