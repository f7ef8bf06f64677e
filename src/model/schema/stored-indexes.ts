// For each index and unique constraint in the definition of a collection, the store contains an index without a name:
// the stored index. Indexes and constraints with the same source, terms and values share a stored index.

import { type IndexDefinition, ownIndexField } from '../../storage/store/index-definition.ts'
import { native, type ObjectValue, Ref, type Value } from '../../values/value.ts'
import { fullKeyOf } from '../../values/value-keys.ts'
import { applyWrite } from '../failure.ts'
import { uncounted } from '../read.ts'
import type { Session } from '../session.ts'
import { objectIn } from './definition-parts.ts'
import { objectOf } from './field-types.ts'
import { indexedParts, type OwnField, type TermsAndValues } from './index-fields.ts'
import { indexAfter } from './index-migration.ts'
import type { Step } from './migration-steps.ts'
import type { Path } from './paths.ts'

const metadata = new Set<string | bigint>(['id', 'ts', 'ttl'])

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

function storedIndex(
  { terms, values }: TermsAndValues,
  collection: Ref,
  definition: ObjectValue,
): Map<string, Value> {
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
function contentKey(fields: ObjectValue): string {
  return fullKeyOf(['source', 'terms', 'values'].map(name => fields.get(name) ?? null))
}

/** A stored index, with the fields of its document. */
interface StoredIndex {
  readonly key: string
  readonly definition: IndexDefinition
  readonly fields: ObjectValue
}

/** The stored indexes of a collection, by their keys. */
function storedIndexesOf(collection: Ref, { transaction }: Session): ReadonlyMap<string, StoredIndex> {
  const { catalogue } = transaction
  return catalogue.derived(collection.database, `own indexes of ${collection.id}`, () => {
    const found = new Map<string, StoredIndex>()
    for (const definition of catalogue.indexesOf(collection.database, Number(collection.id))) {
      const { isOwn, ref } = definition
      const fields = isOwn ? uncounted(transaction, () => transaction.get(ref))?.fields : undefined
      if (fields === undefined) continue
      const key = contentKey(fields)
      found.set(key, { key, definition, fields })
    }
    return found
  })
}

/** Returns a function that finds the stored index for the terms and values of an index or unique constraint. */
export function storedIndexFinder(collection: Ref, definition: ObjectValue, session: Session) {
  const stored = storedIndexesOf(collection, session)
  return (part: TermsAndValues) => stored.get(contentKey(storedIndex(part, collection, definition)))
}

/**
 * Creates, changes and deletes the stored indexes for a definition. `steps` are its new migration steps. If they cannot
 * change the rows of an index, the rows are preserved, and only the paths of the index's fields change. If `steps` is
 * undefined, all indexes are rebuilt. `planned` is a definition that is not active yet: its indexes are created, but
 * enforce no unique constraints. `beforeRemoval` is called before the deletion of an index that the definition no longer
 * has, but not for an index that a migration replaces.
 */
export function updateOwnIndexes(
  collection: Ref,
  definition: ObjectValue,
  session: Session,
  steps: readonly Step[] | undefined,
  {
    beforeRemoval,
    planned,
  }: { readonly planned?: ObjectValue | undefined; readonly beforeRemoval?: () => void } = {},
): void {
  const { transaction } = session
  const wanted = new Map<string, Map<string, Value>>()
  for (const each of planned === undefined ? [definition] : [definition, planned]) {
    for (const part of indexedParts(each)) {
      const fields = storedIndex(part, collection, each)
      const key = contentKey(fields)
      const known = wanted.get(key) ?? fields
      wanted.set(key, part.isUnique && each === definition ? known.set('unique', true) : known)
    }
  }
  for (const { definition: index, fields } of storedIndexesOf(collection, session).values()) {
    const migrated = steps && indexAfter(fields, steps)
    const key = migrated && contentKey(migrated)
    const next = key === undefined ? undefined : wanted.get(key)
    if (migrated === undefined || key === undefined || next === undefined) {
      if (migrated !== undefined) beforeRemoval?.()
      applyWrite(() => transaction.delete(index.ref), 'call')
      continue
    }
    wanted.delete(key)
    if (migrated === fields && next.has('unique') === fields.has('unique')) continue
    const changed = new Map(migrated)
    if (next.has('unique')) changed.set('unique', true)
    else changed.delete('unique')
    applyWrite(() => transaction.put(index.ref, changed), 'call')
  }
  for (const fields of wanted.values()) {
    const id = transaction.nextSchemaId(collection.database, native.indexes)
    applyWrite(() => transaction.put(new Ref(collection.database, native.indexes, id), fields), 'call')
  }
}
