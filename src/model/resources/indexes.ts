// Indexes. Their source, terms and values are final after creation. The store builds an index and sets `active` when it
// is complete.

import { limits } from '../../base/limits.ts'
import { equalValues } from '../../values/equality.ts'
import { isArray, isObject, itemsOf, type ObjectValue, type Value } from '../../values/value.ts'
import type { FieldFailure } from '../failure.ts'
import { destructive, isProtected } from './databases.ts'
import { flag, keepKnown, map, name, text, whole } from './fields.ts'
import { meaningOfSource, source, sourceFailures, withoutUnknownSourceKeys } from './index-source.ts'
import { type Draft, type FieldCheck, failure, invalidType, type Resource } from './resource.ts'

const partitionsMax = BigInt(limits.indexPartitionsMax)

const partitions: FieldCheck = (value, path) => {
  const wrong = whole(value, path)
  if (wrong.length > 0 || ((value as bigint) >= 1n && (value as bigint) <= partitionsMax)) return wrong
  return [failure(path, { kind: 'out of range', value, least: 1n, most: partitionsMax })]
}

/** Returns whether every caller of the database may read the index. Other permissions are dropped silently. */
function isPublic(permissions: Value | undefined): boolean {
  return isObject(permissions) && permissions.get('read') === 'public'
}

/**
 * Terms and values: one object or an array of objects. The path of a failure does not include the position in the array
 * (a quirk).
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

const knownFieldKeys = new Set(['field', 'binding', 'reverse', 'transform', 'mva'])

export const indexResource: Resource = {
  fields: {
    active: { check: flag },
    serialized: { check: flag },
    name: { check: name, required: true },
    source: { check: source, required: true },
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
    keepKnown(fields, 'source', withoutUnknownSourceKeys)
    keepKnown(fields, 'terms', withoutUnknownFieldKeys)
    keepKnown(fields, 'values', withoutUnknownFieldKeys)
    if (!isPublic(fields.get('permissions'))) fields.delete('permissions')
    if (draft.mode === 'replace')
      draft.failures.push(...(fields.has('active') ? [] : [failure(['active'], { kind: 'required' })]))
    if (draft.failures.length > 0) return
    draft.failures.push(...sourceFailures(draft, usedBindings(fields)))
    if (!fields.has('partitions')) fields.set('partitions', defaultPartitions(fields))
    if (draft.previous?.fields.get('active') === true) fields.set('active', true)
    if (draft.previous) refuseRedefinition(draft, draft.previous.fields)
  },
  beforeDelete(version, session) {
    if (isProtected(version.ref.database, session)) {
      throw destructive('delete index')
    }
  },
}

function withoutUnknownFieldKeys(item: ObjectValue): ObjectValue {
  return new Map([...item].filter(([key]) => knownFieldKeys.has(key)))
}

function usedBindings(fields: ObjectValue): ReadonlySet<string> {
  const items = [...itemsOf(fields.get('terms')), ...itemsOf(fields.get('values'))]
  return new Set(items.map(item => (isObject(item) ? item.get('binding') : undefined)).filter(isString))
}

const isString = (value: Value | undefined): value is string => typeof value === 'string'

/**
 * Indexes without terms, or over all documents of a class, are partitioned. For unique indexes, which are never
 * partitioned, the result has no effect.
 */
function defaultPartitions(fields: ObjectValue): bigint {
  const terms = itemsOf(fields.get('terms'))
  const [only] = terms
  const byClass = terms.length === 1 && isObject(only) && itemsOf(only.get('field')).join() === 'class'
  return terms.length === 0 || byClass ? partitionsMax : 1n
}

/** The definition of an index is final. Writing the same definition in another notation is allowed. */
function refuseRedefinition({ failures, fields }: Draft, before: ObjectValue): void {
  const [partitionsBefore, partitions] = [effectivePartitions(before), effectivePartitions(fields)]
  if (partitions !== partitionsBefore) {
    failures.push(failure([], { kind: 'partitions changed', before: partitionsBefore, after: partitions }))
  }
  const isSame =
    equalValues(meaningOfSource(fields.get('source')), meaningOfSource(before.get('source'))) &&
    equalValues(meaningOfFields(fields.get('terms')), meaningOfFields(before.get('terms'))) &&
    equalValues(meaningOfFields(fields.get('values')), meaningOfFields(before.get('values')))
  if (isSame) return
  failures.push(failure([], { kind: 'index changed' }))
}

function effectivePartitions(fields: ObjectValue): Value {
  return fields.get('unique') === true ? 1n : (fields.get('partitions') ?? null)
}

/** Returns terms or values in normalized form, with all defaults. */
function meaningOfFields(given: Value | undefined): Value {
  return itemsOf(given).map(item => {
    if (!isObject(item)) return item
    return new Map<string, Value>([
      ['field', itemsOf(item.get('field'))],
      ['binding', item.get('binding') ?? null],
      ['reverse', item.get('reverse') === true],
      ['transform', item.get('transform') ?? null],
      ['mva', item.get('mva') !== false],
    ])
  })
}
