// The indexes and unique constraints of a collection's definition. Each is kept by an index of the store that has no
// name; equal ones share one. Which that is says what it covers.

import type { IndexDefinition } from '../../storage/store/contract.ts'
import { buildErrorField, ownIndexField } from '../../storage/store/definitions.ts'
import { isArray, isObject, native, type ObjectValue, Ref, type Value } from '../../values/value.ts'
import { ownKeyOf } from '../../values/value-keys.ts'
import { applied } from '../failure.ts'
import { uncounted } from '../read.ts'
import type { Session } from '../session.ts'
import { listIn, namedIn, objectIn, partsIn } from './definition-parts.ts'
import { indexAfter } from './migrated-indexes.ts'
import type { Step } from './migration-steps.ts'
import { type Path, parsePath } from './paths.ts'
import { objectOf } from './stored-types.ts'

/** One term or value of a collection's index. */
export interface OwnField {
  /** The path as the definition means it: the name of a computed field or of metadata, or a path into the data. */
  readonly path: Path
  readonly isComputed: boolean
  readonly isDescending: boolean
  readonly multiValue: boolean
}

/** An index of a collection's definition. */
export interface OwnIndex {
  readonly name: string
  readonly terms: readonly OwnField[]
  readonly values: readonly OwnField[]
  /** What keeps it. */
  readonly stored: IndexDefinition
  readonly isQueryable: boolean
}

/** What an index of the store is made of, for one of a definition. */
interface Shape {
  readonly terms: readonly OwnField[]
  readonly values: readonly OwnField[]
}

const metadata = new Set<string | bigint>(['id', 'ts', 'ttl'])

function ownField(item: Value, definition: ObjectValue): OwnField | undefined {
  const text = isObject(item) ? item.get('field') : item
  const path = typeof text === 'string' ? parsePath(text) : undefined
  if (path === undefined) return undefined
  const [first] = path
  const isComputed = typeof first === 'string' && objectIn(definition, 'computed_fields').has(first)
  return {
    path,
    isComputed,
    isDescending: isObject(item) && item.get('order') === 'desc',
    multiValue: isObject(item) && item.get('mva') === true,
  }
}

/** The terms, the values or the fields of a unique constraint that are listed under a name. */
function ownFields(part: ObjectValue, name: string, definition: ObjectValue): readonly OwnField[] {
  return listIn(part, name).flatMap(item => ownField(item, definition) ?? [])
}

function shapeOf(index: ObjectValue, definition: ObjectValue): Shape {
  return {
    terms: ownFields(index, 'terms', definition),
    values: ownFields(index, 'values', definition),
  }
}

/** The fields of each unique constraint, in the order of the definition. */
function uniqueFields(definition: ObjectValue): readonly (readonly OwnField[])[] {
  const constraints = partsIn(definition, 'constraints').filter(each => each.has('unique'))
  return constraints.map(each => ownFields(each, 'unique', definition))
}

/** A part of a definition that an index of the store keeps. */
interface KeptPart {
  /** The name of an index; undefined for a unique constraint. */
  readonly name: string | undefined
  readonly shape: Shape
  readonly isUnique: boolean
}

function shapesOf(definition: ObjectValue): readonly KeptPart[] {
  const indexes = namedIn(definition, 'indexes').map(([name, index]) => ({
    name,
    shape: shapeOf(index, definition),
    isUnique: false,
  }))
  const constraints = uniqueFields(definition).map(terms => ({
    name: undefined,
    shape: { terms, values: [] },
    isUnique: true,
  }))
  return [...indexes, ...constraints]
}

// ------------------------------------------------------------------------------------------- as stored

/** The store's form of a field: where it is, or the computed field and where in its value. */
function storedField({ isComputed, isDescending, multiValue, path }: OwnField): Value {
  const [first, ...rest] = path
  const stored = new Map<string, Value>()
  if (isComputed) {
    stored.set('binding', first as string).set('within', rest)
  } else stored.set('field', storedPath(path))
  stored.set('mva', multiValue)
  return isDescending ? stored.set('reverse', true) : stored
}

/** Ids are ordered as references of one collection are. */
function storedPath(path: Path): Value {
  const [first] = path
  if (first === 'id' && path.length === 1) return ['ref']
  if (first === 'data' || (first !== undefined && metadata.has(first))) return [...path]
  return ['data', ...path]
}

/** Entries with the same values are in the order of ids anyway. */
function withoutId(values: readonly OwnField[]): readonly OwnField[] {
  const last = values.at(-1)
  const isId = last !== undefined && last.path.length === 1 && last.path[0] === 'id' && !last.isComputed
  return isId && !last.isDescending ? values.slice(0, -1) : values
}

function storedIndex({ terms, values }: Shape, collection: Ref, definition: ObjectValue): Map<string, Value> {
  const kept = withoutId(values)
  const computed = objectIn(definition, 'computed_fields')
  const bindings = new Map<string, Value>()
  for (const { isComputed, path } of [...terms, ...kept]) {
    const name = path[0] as string
    const body = isComputed ? objectIn(computed, name).get('body') : undefined
    if (body !== undefined) bindings.set(name, body)
  }
  const source = new Map<string, Value>([['collection', collection]])
  if (bindings.size > 0) source.set('fields', bindings)
  return objectOf({
    [ownIndexField]: true,
    active: false,
    source,
    terms: terms.map(storedField),
    values: kept.map(storedField),
    partitions: 1n,
  })
}

/** The same for indexes that hold the same entries. */
function shapeKey(fields: ObjectValue): string {
  return ownKeyOf(['source', 'terms', 'values'].map(name => fields.get(name) ?? null))
}

/** An index of the store that a definition has, by the key of its shape. */
interface StoredOwn {
  readonly definition: IndexDefinition
  readonly fields: ObjectValue
}

function storedOwn(collection: Ref, { transaction }: Session): ReadonlyMap<string, StoredOwn> {
  const { catalogue } = transaction
  return catalogue.derived(collection.database, `own indexes of ${collection.id}`, () => {
    const found = new Map<string, StoredOwn>()
    for (const definition of catalogue.indexesOf(collection.database, Number(collection.id))) {
      const { isOwn, ref } = definition
      const fields = isOwn ? uncounted(transaction, () => transaction.get(ref))?.fields : undefined
      if (fields !== undefined) found.set(shapeKey(fields), { definition, fields })
    }
    return found
  })
}

/** Finds the index of the store that keeps an index or a unique constraint of a definition. */
function keeperOf(collection: Ref, definition: ObjectValue, session: Session) {
  const kept = storedOwn(collection, session)
  return (shape: Shape) => kept.get(shapeKey(storedIndex(shape, collection, definition)))
}

/**
 * Makes, changes and drops the indexes of the store that a definition calls for. `steps` are taken by documents from now
 * on: an index keeps its rows where they come out the same, under the paths to which its fields have moved; `undefined`:
 * nothing is known of how documents change.
 * Those of `planned`, a definition that is not in force yet, are made as well, but refuse nothing.
 */
export function keepIndexes(
  collection: Ref,
  definition: ObjectValue,
  session: Session,
  steps: readonly Step[] | undefined,
  planned?: ObjectValue,
): void {
  const { transaction } = session
  const wanted = new Map<string, Map<string, Value>>()
  for (const each of planned === undefined ? [definition] : [definition, planned]) {
    for (const { isUnique, shape } of shapesOf(each)) {
      const fields = storedIndex(shape, collection, each)
      const key = shapeKey(fields)
      const known = wanted.get(key) ?? fields
      wanted.set(key, isUnique && each === definition ? known.set('unique', true) : known)
    }
  }
  for (const { definition: index, fields } of storedOwn(collection, session).values()) {
    const moved = steps && indexAfter(fields, steps)
    const key = moved && shapeKey(moved)
    const next = key === undefined ? undefined : wanted.get(key)
    if (moved === undefined || key === undefined || next === undefined) {
      applied(() => transaction.delete(index.ref), 'call')
      continue
    }
    wanted.delete(key)
    if (moved === fields && next.has('unique') === fields.has('unique')) continue
    const changed = new Map(moved)
    if (next.has('unique')) changed.set('unique', true)
    else changed.delete('unique')
    applied(() => transaction.put(index.ref, changed), 'call')
  }
  for (const fields of wanted.values()) {
    const id = transaction.nextSchemaId(collection.database, native.indexes)
    applied(() => transaction.put(new Ref(collection.database, native.indexes, id), fields), 'call')
  }
}

// ---------------------------------------------------------------------------------------------- reading

/** The indexes of a collection by name, as its stored definition has them. */
export function ownIndexes(collection: Ref, session: Session): ReadonlyMap<string, OwnIndex> {
  const { transaction } = session
  return transaction.catalogue.derived(collection.database, `named indexes of ${collection.id}`, () => {
    const own = uncounted(transaction, () => transaction.get(collection))
    const definition = own?.fields ?? new Map<string, Value>()
    const keptBy = keeperOf(collection, definition, session)
    const found = new Map<string, OwnIndex>()
    for (const [name, index] of namedIn(definition, 'indexes')) {
      const shape = shapeOf(index, definition)
      const stored = keptBy(shape)?.definition
      if (stored === undefined) continue
      const queryable = index.get('queryable')
      const isQueryable = typeof queryable === 'boolean' ? queryable : stored.active
      found.set(name, { name, ...shape, stored, isQueryable })
    }
    return found
  })
}

/**
 * The index of the store that keeps a part of a collection's definition: an index by its name, or a unique constraint by its
 * place among them.
 */
export function keptIndex(collection: Ref, part: string | number, session: Session): Ref | undefined {
  const definition = session.transaction.get(collection)?.fields ?? new Map<string, Value>()
  const kept = shapesOf(definition)
  const unique = kept.filter(({ isUnique }) => isUnique)
  const found =
    typeof part === 'number' ? unique[part] : kept.find(({ isUnique, name }) => !isUnique && name === part)
  return found && keeperOf(collection, definition, session)(found.shape)?.definition.ref
}

/** The fields of the unique constraint that an index of the store keeps; undefined for an index that users made. */
export function constraintOf(index: Ref, collection: Ref, session: Session): readonly OwnField[] | undefined {
  const { transaction } = session
  if (transaction.catalogue.index(index)?.isOwn !== true) return undefined
  const definition = transaction.get(collection)?.fields ?? new Map<string, Value>()
  const keptBy = keeperOf(collection, definition, session)
  return uniqueFields(definition).find(terms => keptBy({ terms, values: [] })?.definition.ref.id === index.id)
}

/** What is said of a unique constraint whose index is so far. */
const constraintStates = { built: 'active', building: 'pending', failed: 'failed' } as const

/** A definition with what the service says of its parts: how far its indexes are. */
export function withStatus(collection: Ref, definition: ObjectValue, session: Session): ObjectValue {
  const indexes = definition.get('indexes')
  const constraints = definition.get('constraints')
  if (indexes === undefined && constraints === undefined) return definition
  const keptBy = keeperOf(collection, definition, session)
  const stateOf = (shape: Shape) => {
    const stored = keptBy(shape)
    if (stored?.definition.active) return 'built'
    return stored?.fields.has(buildErrorField) ? 'failed' : 'building'
  }
  const told = new Map(definition)
  if (isObject(indexes)) {
    const each = Array.from(indexes, ([name, index]): [string, Value] => {
      if (!isObject(index)) return [name, index]
      const state = stateOf(shapeOf(index, definition))
      const queryable = index.get('queryable') ?? state === 'built'
      const status = state === 'built' ? 'complete' : state
      return [name, new Map(index).set('queryable', queryable).set('status', status)]
    })
    told.set('indexes', new Map(each))
  }
  if (isArray(constraints)) {
    const each = constraints.map((constraint): Value => {
      if (!isObject(constraint) || !constraint.has('unique')) return constraint
      const state = stateOf({ terms: ownFields(constraint, 'unique', definition), values: [] })
      return new Map(constraint).set('status', constraintStates[state])
    })
    told.set('constraints', each)
  }
  return told
}

/** An index or a unique constraint of a definition that cannot be used yet. */
export interface UnreadyPart {
  /** Undefined for a unique constraint. */
  readonly name: string | undefined
  readonly terms: readonly OwnField[]
  /** The build met a document that the index cannot hold; it goes on once that has changed. */
  readonly hasFailed: boolean
}

/** What of a definition is still being built, or could not be built. */
export function unreadyParts(
  collection: Ref,
  definition: ObjectValue,
  session: Session,
): readonly UnreadyPart[] {
  const keptBy = keeperOf(collection, definition, session)
  return shapesOf(definition).flatMap(({ name, shape }) => {
    const stored = keptBy(shape)
    if (stored === undefined || stored.definition.active) return []
    return [{ name, terms: shape.terms, hasFailed: stored.fields.has(buildErrorField) }]
  })
}
