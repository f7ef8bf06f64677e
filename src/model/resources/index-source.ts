// The `source` of an index: one collection, several collections, or the wildcard. Each of them may have bindings.

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
import { type Draft, type FieldCheck, failure, invalidType } from './resource.ts'

const isCollection = (value: Value): value is Ref =>
  value instanceof Ref && value.collection === native.collections

/** Checks the parts of a source. {@link sourceFailures} checks their combination. */
export const source: FieldCheck = (value, path) =>
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
  const failures = wrong.slice(0, 1).map(each => invalidType(['class'], each, 'Class Ref'))
  const fields = item.get('fields')
  if (fields === undefined) return failures
  if (!isObject(fields)) return [...failures, invalidType(['fields'], fields, 'Map')]
  const badBindings = [...fields].filter(([, body]) => !(body instanceof Lambda))
  return [...failures, ...badBindings.map(([name, body]) => invalidType(['fields', name], body, 'Query'))]
}

/** Returns the ids of the collections that a source names, and `'_'` for the wildcard. */
function sourceCollectionsOf(stored: Value | undefined): readonly (bigint | '_')[] {
  return itemsOf(stored).flatMap(item => (isObject(item) ? collectionsOfObject(item) : [collectionOf(item)]))
}

function collectionsOfObject(item: ObjectValue): readonly (bigint | '_')[] {
  return itemsOf(item.get('collection') ?? item.get('class')).map(collectionOf)
}

function collectionOf(item: Value): bigint | '_' {
  return item instanceof Ref ? item.id : '_'
}

function bindingsOf(item: Value): ObjectValue {
  const fields = isObject(item) ? item.get('fields') : undefined
  return isObject(fields) ? fields : new Map()
}

/**
 * Returns a source in normalized form: the bindings of each collection. If two parts name the same collection, the
 * first applies.
 */
export function meaningOfSource(stored: Value | undefined): ObjectValue {
  const parts = itemsOf(stored).flatMap(item =>
    sourceCollectionsOf(item).map((collection): [string, Value] => [String(collection), bindingsOf(item)]),
  )
  return new Map(parts.reverse())
}

/**
 * Returns one part of a source as it is stored. `class` is an older name for `collection`. If both are present,
 * `collection` applies.
 */
export function withoutUnknownSourceKeys(item: ObjectValue): ObjectValue {
  const keys = item.has('collection') ? ['collection', 'fields'] : ['class', 'fields']
  return new Map([...item].filter(([key]) => keys.includes(key)))
}

/**
 * Checks the combination of an index's sources, each of which is valid by itself. `used`: the bindings that terms and
 * values name.
 */
export function sourceFailures(
  { session, fields }: Draft,
  used: ReadonlySet<string>,
): readonly FieldFailure[] {
  const items = itemsOf(fields.get('source'))
  const collections = sourceCollectionsOf(fields.get('source'))
  const bound = items.some(item => bindingsOf(item).size > 0)
  const failures: FieldFailure[] = []
  if (collections.includes(BigInt(native.databases))) {
    failures.push(failure(['source'], { kind: 'reference', why: 'missing' }))
  }
  if (items.length > 1 && collections.includes('_') && !bound) {
    failures.push(failure(['source'], { kind: 'mixed wildcards' }))
  }
  if (collections.filter(each => each === '_').length > 1) {
    failures.push(failure(['source'], { kind: 'several wildcards' }))
  }
  if (repeats(items)) {
    failures.push(failure(['source'], { kind: 'repeated source' }))
  }
  return [...failures, ...items.flatMap((item, index) => bindingFailures(item, index, used, session))]
}

/** Returns whether two sources name the same set of collections. */
function repeats(items: readonly Value[]): boolean {
  const keys = items.map(item =>
    (isObject(item) ? collectionsOfObject(item) : [collectionOf(item)]).map(String).sort().join(),
  )
  return new Set(keys).size < keys.length
}

function bindingFailures(
  item: Value,
  index: number,
  used: ReadonlySet<string>,
  session: Session,
): readonly FieldFailure[] {
  return [...bindingsOf(item)].flatMap(([name, body], position) => {
    const path = ['source', String(index), 'fields', String(position), name]
    const { effect, parameters } = session.factsOf(body as Lambda)
    if (effect !== 'pure' || parameters !== 1) return [failure(path, { kind: 'impure binding' })]
    if (used.has(name)) return []
    return [failure(path, { kind: 'unused binding' })]
  })
}
