// For each index and unique constraint in the definition of a collection, the store contains an index without a name:
// the stored index. Indexes and constraints with the same source, terms and values share a stored index.

import { hash } from 'node:crypto'
import { buildErrorField, type IndexDefinition, ownIndexField } from '../../storage/store/index-definition.ts'
import { isArray, isObject, native, type ObjectValue, Ref, type Value } from '../../values/value.ts'
import { ownKeyOf } from '../../values/value-keys.ts'
import { applied } from '../failure.ts'
import { uncounted } from '../read.ts'
import type { Session } from '../session.ts'
import { type DefinedField, fieldsIn, namedIn, objectIn, partsIn } from './definition-parts.ts'
import { objectOf } from './field-types.ts'
import type { FieldNames, Step } from './migration-steps.ts'
import type { Path } from './paths.ts'

/** A term or value of a collection's index. */
export interface OwnField extends DefinedField {
  readonly isComputed: boolean
}

/** An index in the definition of a collection. */
export interface OwnIndex {
  readonly name: string
  readonly terms: readonly OwnField[]
  readonly values: readonly OwnField[]
  /** The corresponding index of the store. */
  readonly stored: IndexDefinition
  /** Identifies the source, the terms and the values. While this text is unchanged, positions in the index are valid. */
  readonly content: string
  readonly isQueryable: boolean
}

interface Shape {
  readonly terms: readonly OwnField[]
  readonly values: readonly OwnField[]
}

const metadata = new Set<string | bigint>(['id', 'ts', 'ttl'])

/** `name` selects terms, values, or the fields of a unique constraint. */
function ownFields(part: ObjectValue, name: string, definition: ObjectValue): readonly OwnField[] {
  const computed = objectIn(definition, 'computed_fields')
  return fieldsIn(part, name).map(field => {
    const [first] = field.path
    return { ...field, isComputed: typeof first === 'string' && computed.has(first) }
  })
}

function shapeOf(index: ObjectValue, definition: ObjectValue): Shape {
  return {
    terms: ownFields(index, 'terms', definition),
    values: ownFields(index, 'values', definition),
  }
}

/** Returns the fields of each unique constraint, in the order of the definition. */
function uniqueFields(definition: ObjectValue): readonly (readonly OwnField[])[] {
  const constraints = partsIn(definition, 'constraints').filter(each => each.has('unique'))
  return constraints.map(each => ownFields(each, 'unique', definition))
}

interface IndexedPart {
  /** Undefined for a unique constraint. */
  readonly name: string | undefined
  readonly shape: Shape
  readonly isUnique: boolean
}

function indexedParts(definition: ObjectValue): readonly IndexedPart[] {
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

// -------------------------------------------------------------------------------------- stored indexes

/** For a computed field, the stored form contains the name of the field and the path inside its value. */
function storedField({ isComputed, mva, order, path }: OwnField): Value {
  const [first, ...rest] = path
  const stored = new Map<string, Value>()
  if (isComputed) {
    stored.set('binding', first as string).set('within', rest)
  } else stored.set('field', storedPath(path))
  stored.set('mva', mva)
  return order === 'desc' ? stored.set('reverse', true) : stored
}

/** `id` becomes `ref`, because references to documents of the collection are sorted by id. */
function storedPath(path: Path): Value {
  const [first] = path
  if (first === 'id' && path.length === 1) return ['ref']
  if (first === 'data' || (first !== undefined && metadata.has(first))) return [...path]
  return ['data', ...path]
}

/** Removes the last value if it is an ascending `id`, because entries with equal values are always sorted by id. */
function withoutId(values: readonly OwnField[]): readonly OwnField[] {
  const last = values.at(-1)
  const isId = last !== undefined && last.path.length === 1 && last.path[0] === 'id' && !last.isComputed
  return isId && last.order === 'asc' ? values.slice(0, -1) : values
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

/** Indexes with the same key contain the same entries. */
function shapeKey(fields: ObjectValue): string {
  return ownKeyOf(['source', 'terms', 'values'].map(name => fields.get(name) ?? null))
}

/** Enough characters for the few definitions that an index has over time. */
const contentLength = 10

/** A stored index, with the fields of its document. */
interface StoredOwn {
  readonly key: string
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
      if (fields === undefined) continue
      const key = shapeKey(fields)
      found.set(key, { key, definition, fields })
    }
    return found
  })
}

/** Returns a function that finds the stored index for the terms and values of an index or unique constraint. */
function storedIndexFinder(collection: Ref, definition: ObjectValue, session: Session) {
  const kept = storedOwn(collection, session)
  return (shape: Shape) => kept.get(shapeKey(storedIndex(shape, collection, definition)))
}

/**
 * Creates, changes and deletes the stored indexes for a definition. `steps` are its new migration steps. If they cannot
 * change the rows of an index, the rows are preserved, and only the paths of the index's fields change. If `steps` is
 * undefined, all indexes are rebuilt. `planned` is a definition that is not active yet: its indexes are created, but
 * enforce no unique constraints.
 */
export function updateOwnIndexes(
  collection: Ref,
  definition: ObjectValue,
  session: Session,
  steps: readonly Step[] | undefined,
  planned?: ObjectValue,
): void {
  const { transaction } = session
  const wanted = new Map<string, Map<string, Value>>()
  for (const each of planned === undefined ? [definition] : [definition, planned]) {
    for (const { isUnique, shape } of indexedParts(each)) {
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

// ---------------------------------------------------------------------------------------------- queries

/** Returns the indexes in the definition of a collection, by name. */
export function ownIndexes(collection: Ref, session: Session): ReadonlyMap<string, OwnIndex> {
  const { transaction } = session
  return transaction.catalogue.derived(collection.database, `named indexes of ${collection.id}`, () => {
    const own = uncounted(transaction, () => transaction.get(collection))
    const definition = own?.fields ?? new Map<string, Value>()
    const find = storedIndexFinder(collection, definition, session)
    const found = new Map<string, OwnIndex>()
    for (const [name, index] of namedIn(definition, 'indexes')) {
      const shape = shapeOf(index, definition)
      const own = find(shape)
      if (own === undefined) continue
      const { definition: stored, key } = own
      const queryable = index.get('queryable')
      const isQueryable = typeof queryable === 'boolean' ? queryable : stored.active
      const content = hash('sha256', key, 'base64url').slice(0, contentLength)
      found.set(name, { name, ...shape, stored, content, isQueryable })
    }
    return found
  })
}

/** `part` is the name of an index, or the position in the list of unique constraints. */
export function ownIndexRef(collection: Ref, part: string | number, session: Session): Ref | undefined {
  const definition = session.transaction.get(collection)?.fields ?? new Map<string, Value>()
  const parts = indexedParts(definition)
  const unique = parts.filter(({ isUnique }) => isUnique)
  const found =
    typeof part === 'number' ? unique[part] : parts.find(({ isUnique, name }) => !isUnique && name === part)
  return found && storedIndexFinder(collection, definition, session)(found.shape)?.definition.ref
}

/** The fields of the unique constraint that the index enforces, if any. */
export function constraintOf(index: Ref, collection: Ref, session: Session): readonly OwnField[] | undefined {
  const { transaction } = session
  if (transaction.catalogue.index(index)?.isOwn !== true) return undefined
  const definition = transaction.get(collection)?.fields ?? new Map<string, Value>()
  const find = storedIndexFinder(collection, definition, session)
  return uniqueFields(definition).find(terms => find({ terms, values: [] })?.definition.ref.id === index.id)
}

/** The status of a unique constraint, by the state of its stored index. */
const constraintStates = { built: 'active', building: 'pending', failed: 'failed' } as const

/** Adds the status of each index and unique constraint to a definition. */
export function withStatus(collection: Ref, definition: ObjectValue, session: Session): ObjectValue {
  const indexes = definition.get('indexes')
  const constraints = definition.get('constraints')
  if (indexes === undefined && constraints === undefined) return definition
  const find = storedIndexFinder(collection, definition, session)
  const stateOf = (shape: Shape) => {
    const stored = find(shape)
    if (stored?.definition.active) return 'built'
    return stored?.fields.has(buildErrorField) ? 'failed' : 'building'
  }
  const shown = new Map(definition)
  if (isObject(indexes)) {
    const each = Array.from(indexes, ([name, index]): [string, Value] => {
      if (!isObject(index)) return [name, index]
      const state = stateOf(shapeOf(index, definition))
      const queryable = index.get('queryable') ?? state === 'built'
      const status = state === 'built' ? 'complete' : state
      return [name, new Map(index).set('queryable', queryable).set('status', status)]
    })
    shown.set('indexes', new Map(each))
  }
  if (isArray(constraints)) {
    const each = constraints.map((constraint): Value => {
      if (!isObject(constraint) || !constraint.has('unique')) return constraint
      const state = stateOf({ terms: ownFields(constraint, 'unique', definition), values: [] })
      return new Map(constraint).set('status', constraintStates[state])
    })
    shown.set('constraints', each)
  }
  return shown
}

/** The index or unique constraint is not ready for use. */
export interface UnreadyPart {
  /** Undefined for a unique constraint. */
  readonly name: string | undefined
  readonly terms: readonly OwnField[]
  /** The build found a document that the index cannot contain. It continues when this document is changed. */
  readonly hasFailed: boolean
}

/** The build is running or has failed. */
export function unreadyParts(
  collection: Ref,
  definition: ObjectValue,
  session: Session,
): readonly UnreadyPart[] {
  const find = storedIndexFinder(collection, definition, session)
  return indexedParts(definition).flatMap(({ name, shape }) => {
    const stored = find(shape)
    if (stored === undefined || stored.definition.active) return []
    return [{ name, terms: shape.terms, hasFailed: stored.fields.has(buildErrorField) }]
  })
}

// If the migrated documents have the same index rows, only the paths of the fields change, and the index is not
// rebuilt.

/** The stored fields of an index after `steps`; undefined if `steps` can change the rows. */
export function indexAfter(index: ObjectValue, steps: readonly Step[]): ObjectValue | undefined {
  if (steps.length === 0) return index
  let changed: Map<string, Value> | undefined
  for (const list of ['terms', 'values']) {
    const fields = index.get(list)
    if (!isArray(fields)) continue
    const after: Value[] = []
    for (const field of fields) {
      const kept = fieldAfter(field, steps)
      if (kept === undefined) return undefined
      after.push(kept)
    }
    if (after.every((field, position) => field === fields[position])) continue
    changed ??= new Map(index)
    changed.set(list, after)
  }
  return changed ?? index
}

function fieldAfter(field: Value, steps: readonly Step[]): Value | undefined {
  // A computed field can read all other fields, so `steps` can change its values.
  if (!isObject(field) || field.has('binding')) return undefined
  const stored = field.get('field')
  if (!isArray(stored) || stored[0] !== 'data') return field
  let path: Path | undefined = stored
    .slice(1)
    .filter(part => typeof part === 'string' || typeof part === 'bigint')
  const before = path
  for (const step of steps) {
    path = pathAfter(path, step)
    if (path === undefined) return undefined
  }
  return path === before ? field : new Map(field).set('field', ['data', ...path])
}

/** Undefined if the step can change the value. */
function pathAfter(path: Path, step: Step): Path | undefined {
  switch (step.kind) {
    case 'move':
      if (begins(path, step.from)) return [...step.to, ...path.slice(step.from.length)]
      return overlaps(path, step.from) || replaces(path, step.to) ? undefined : path
    case 'add':
    case 'drop':
      return overlaps(path, step.path) ? undefined : path
    case 'split':
      return overlaps(path, step.from) || step.targets.some(target => replaces(path, target.path))
        ? undefined
        : path
    case 'move conflicts':
      return overlaps(path, [step.into]) ? undefined : path
    case 'move wildcard': {
      const isKept = step.keep.some(name => name === path[0])
      return isKept && !overlaps(path, [step.into]) ? path : undefined
    }
  }
}

/** Returns whether `path` begins with all names of `field`. */
function begins(path: Path, field: FieldNames): boolean {
  return field.length <= path.length && field.every((name, index) => name === path[index])
}

/** Returns whether a change of `field` can change the value at `path`. */
function overlaps(path: Path, field: FieldNames): boolean {
  const length = Math.min(path.length, field.length)
  return field.slice(0, length).every((name, index) => name === path[index])
}

/**
 * Returns whether setting `field` can change the value at `path`. For example, setting `a` can rename an undeclared
 * field `a` to `_a`, which changes the values at paths that begin with `_a`.
 */
function replaces(path: Path, field: FieldNames): boolean {
  if (overlaps(path, field)) return true
  const [[first], [name = '']] = [path, field]
  return typeof first === 'string' && first.endsWith(name) && /^_+$/.test(first.slice(0, -name.length))
}
