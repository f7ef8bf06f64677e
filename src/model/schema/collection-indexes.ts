// The indexes and unique constraints in the definition of a collection, with their status: the collection's *own*
// indexes. Each uses a stored index (stored-indexes.ts).

import { hash } from 'node:crypto'
import { buildErrorField, type IndexDefinition } from '../../storage/store/index-definition.ts'
import { isArray, isObject, type ObjectValue, type Ref, type Value } from '../../values/value.ts'
import { uncounted } from '../read.ts'
import type { Session } from '../session.ts'
import { namedIn } from './definition-parts.ts'
import {
  indexedParts,
  type OwnField,
  ownFields,
  type TermsAndValues,
  termsAndValues,
  uniqueFields,
} from './index-fields.ts'
import { storedIndexFinder } from './stored-indexes.ts'

/** An index in the definition of a collection. */
export interface OwnIndex {
  readonly name: string
  readonly terms: readonly OwnField[]
  readonly values: readonly OwnField[]
  /** The corresponding index of the store. */
  readonly stored: IndexDefinition
  /** Identifies source, terms and values. Places of cursors in the index are valid while this text is unchanged. */
  readonly contentDigest: string
  readonly isQueryable: boolean
}

/** Characters of a digest, which distinguishes the few definitions that one index has over time. */
const digestLength = 10

/** Returns the indexes in the definition of a collection, by name. */
export function ownIndexes(collection: Ref, session: Session): ReadonlyMap<string, OwnIndex> {
  const { transaction } = session
  return transaction.catalogue.derived(collection.database, `named indexes of ${collection.id}`, () => {
    const version = uncounted(transaction, () => transaction.get(collection))
    const definition = version?.fields ?? new Map<string, Value>()
    const find = storedIndexFinder(collection, definition, session)
    const found = new Map<string, OwnIndex>()
    for (const [name, index] of namedIn(definition, 'indexes')) {
      const parts = termsAndValues(index, definition)
      const own = find(parts)
      if (own === undefined) continue
      const { definition: stored, key } = own
      const queryable = index.get('queryable')
      const isQueryable = typeof queryable === 'boolean' ? queryable : stored.active
      const contentDigest = hash('sha256', key, 'base64url').slice(0, digestLength)
      found.set(name, { name, ...parts, stored, contentDigest, isQueryable })
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
  return found && storedIndexFinder(collection, definition, session)(found)?.definition.ref
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
  const stateOf = (part: TermsAndValues) => {
    const stored = find(part)
    if (stored?.definition.active) return 'built'
    return stored?.fields.has(buildErrorField) ? 'failed' : 'building'
  }
  const shown = new Map(definition)
  if (isObject(indexes)) {
    const each = Array.from(indexes, ([name, index]): [string, Value] => {
      if (!isObject(index)) return [name, index]
      const state = stateOf(termsAndValues(index, definition))
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

/** An index or unique constraint that is not ready for use. */
export interface UnreadyPart {
  /** Undefined for a unique constraint. */
  readonly name: string | undefined
  readonly terms: readonly OwnField[]
  /** The build found a document that the index cannot contain. The build continues when this document is changed. */
  readonly hasFailed: boolean
}

/** Returns the indexes and unique constraints whose build is running or has failed. */
export function unreadyParts(
  collection: Ref,
  definition: ObjectValue,
  session: Session,
): readonly UnreadyPart[] {
  const find = storedIndexFinder(collection, definition, session)
  return indexedParts(definition).flatMap(part => {
    const stored = find(part)
    if (stored === undefined || stored.definition.active) return []
    return [{ name: part.name, terms: part.terms, hasFailed: stored.fields.has(buildErrorField) }]
  })
}
