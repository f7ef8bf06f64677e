// The `source` of an index: one collection or several, the wildcard, each with computed fields.

import type { Failure } from '../../errors.ts'
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
import { type Draft, type FieldCheck, failure, invalidType, valueRequired } from './resource.ts'

const isCollection = (value: Value): value is Ref =>
  value instanceof Ref && value.collection === native.collections

/** Checks the shape of a source; {@link sourceFailures} checks what its parts mean together. */
export const source: FieldCheck = (value, path) =>
  itemsOf(value).flatMap(item => {
    if (item === '_' || isCollection(item)) return []
    return isObject(item) ? objectFailures(item) : [invalidType(path, item, 'SourceClass')]
  })

function objectFailures(item: ObjectValue): readonly Failure[] {
  const collections = item.get('collection') ?? item.get('class')
  if (collections === undefined) return [valueRequired(['class'])]
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

/** The numbers of the collections a source names, and `'_'` for the wildcard. */
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
  return fields !== undefined && isObject(fields) ? fields : new Map()
}

/**
 * A source as what it means, however it is written: the computed fields of each collection. Of two parts that name
 * the same collection the first counts.
 */
export function meaningOfSource(stored: Value | undefined): ObjectValue {
  const parts = itemsOf(stored).flatMap(item =>
    sourceCollectionsOf(item).map((collection): [string, Value] => [String(collection), bindingsOf(item)]),
  )
  return new Map(parts.reverse())
}

/** One part of a source as it is stored; `class` is an older name for `collection`, which wins. */
export function withoutUnknownSourceKeys(item: ObjectValue): ObjectValue {
  const keys = item.has('collection') ? ['collection', 'fields'] : ['class', 'fields']
  return new Map([...item].filter(([key]) => keys.includes(key)))
}

/** What is wrong with the sources of a well-shaped index as a whole. `used`: the bindings its fields name. */
export function sourceFailures({ call, fields }: Draft, used: ReadonlySet<string>): readonly Failure[] {
  const items = itemsOf(fields.get('source'))
  const collections = sourceCollectionsOf(fields.get('source'))
  const bound = items.some(item => bindingsOf(item).size > 0)
  const failures: Failure[] = []
  if (collections.includes(BigInt(native.databases))) {
    failures.push(failure(['source'], 'invalid reference', 'Reference was not found.'))
  }
  if (items.length > 1 && collections.includes('_') && !bound) {
    const text = 'Cannot mix collection refs and wildcards without providing bindings.'
    failures.push(failure(['source'], 'mixed wildcards', text))
  }
  if (collections.filter(each => each === '_').length > 1) {
    failures.push(failure(['source'], 'multiple wildcards', 'Too many wildcards.'))
  }
  if (repeats(items)) {
    const text = 'A collection ref may only match one binding.'
    failures.push(failure(['source'], 'multiple bindings', text))
  }
  return [...failures, ...items.flatMap((item, index) => bindingFailures(item, index, used, call))]
}

/** Whether two sources name the same set of collections. */
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
  call: Draft['call'],
): readonly Failure[] {
  return [...bindingsOf(item)].flatMap(([name, body], position) => {
    const path = ['source', String(index), 'fields', String(position), name]
    const lambda = call.evaluation.host.compile(body as Lambda)
    const arity = typeof lambda.parameters === 'string' ? 1 : lambda.parameters.length
    if (lambda.effect !== 'pure' || arity !== 1) {
      return [failure(path, 'invalid binding', 'Field binding must be a pure unary function.')]
    }
    if (used.has(name)) return []
    return [failure(path, 'unused binding', 'Source binding is not used as a term or value.')]
  })
}
