// Describes the reads of a query for its explanation: the sets, the numbers of entries and documents, and indexes that
// would have avoided reads.

import type { ReadRecorder } from '../model/read-recorder.ts'
import { ownIndexes } from '../model/schema/collection-indexes.ts'
import { pathSpelling } from '../model/schema/paths.ts'
import type { Session } from '../model/session.ts'
import type { SetUse } from '../model/set-uses.ts'
import type { IndexDefinition } from '../storage/store/index-definition.ts'
import {
  collectionOf,
  isArray,
  isObject,
  native,
  nativeName,
  type ObjectValue,
  Ref,
  Transient,
  type Value,
} from '../values/value.ts'

/** Returns the members of the response about reads. `result` is undefined if the query failed. */
export function describeReads(
  reads: ReadRecorder,
  result: Value | undefined,
  uses: readonly SetUse[],
  session: Session,
): ReadonlyMap<string, Value> {
  const documents = reads.documents.map(([collection, count]) =>
    mapOf({ collection: collectionName(collection, session), documents: BigInt(count) }),
  )
  const sets = reads.sets.map(({ entries, scans, set }) =>
    mapOf({ ...nameOfSet(set, session), scans: BigInt(scans), entries: BigInt(entries) }),
  )
  const sum = (numbers: readonly number[]) => BigInt(numbers.reduce((total, number) => total + number, 0))
  return new Map<string, Value>([
    ['sets', sets],
    ['documents', documents],
    ['entries_read', sum(reads.sets.map(({ entries }) => entries))],
    ['documents_read', sum(reads.documents.map(([, count]) => count))],
    ['returned', BigInt(returned(result))],
    ['suggestions', suggestions(reads, uses, session)],
  ])
}

/** Counts the elements of a page or an array. Another value counts as 1. */
function returned(result: Value | undefined): number {
  if (result === undefined || result === null) return 0
  const value = result instanceof Transient ? result.storedForm() : result
  if (isArray(value)) return value.length
  const data = isObject(value) ? value.get('data') : undefined
  return isArray(data) ? data.length : 1
}

function nameOfSet(set: Ref, session: Session): Readonly<Record<string, Value>> {
  const { catalogue } = session.transaction
  if (set.collection === native.collections)
    return { kind: 'collection', collection: collectionName(Number(set.id), session) }
  const index = catalogue.index(set)
  if (index === undefined || !index.isOwn) return { kind: 'index', index: catalogue.nameOf(set) ?? null }
  const [source] = index.sources
  const number = typeof source?.collections === 'string' ? undefined : source?.collections[0]
  const collection = number === undefined ? null : collectionName(number, session)
  return { kind: 'index', collection, index: number === undefined ? null : ownName(index, number, session) }
}

/** Returns the name of an index in the definition of its collection. */
function ownName(index: IndexDefinition, number: number, session: Session): string | null {
  const collection = new Ref(session.database, native.collections, BigInt(number))
  for (const [name, { stored }] of ownIndexes(collection, session)) {
    if (stored.ref.id === index.ref.id) return name
  }
  return null
}

function collectionName(number: number, session: Session): string {
  const { catalogue } = session.transaction
  const name = nativeName(number)
  if (name !== undefined) return name
  return catalogue.nameOf(collectionOf(new Ref(session.database, number, 0n))) ?? String(number)
}

/** Suggests indexes for filters and orders whose collections were scanned. */
function suggestions(reads: ReadRecorder, uses: readonly SetUse[], session: Session): readonly ObjectValue[] {
  const { catalogue } = session.transaction
  return uses.flatMap(use => {
    const collection = catalogue.resolve(session.database, native.collections, use.collection)
    const isScanned = reads.sets.some(
      ({ entries, set }) => set.collection === native.collections && set.id === collection?.id && entries > 0,
    )
    if (collection === undefined || !isScanned) return []
    const existing = existingIndex(use, Number(collection.id), session)
    return [
      mapOf({
        collection: use.collection,
        terms: use.terms.map(pathSpelling),
        values: use.values.map(pathSpelling),
        existing: existing ?? null,
        definition: use.definition,
      }),
    ]
  })
}

/** Returns the name of an index of the query's language with these terms, whose values begin with these values. */
function existingIndex(use: SetUse, number: number, session: Session): string | undefined {
  const { isOwn } = use
  const indexes = session.transaction.catalogue.indexesOf(session.database, number)
  const found = indexes.find(index => index.isOwn === isOwn && answers(index, use))
  return found && (isOwn ? (ownName(found, number, session) ?? undefined) : found.name)
}

function answers(index: IndexDefinition, { terms, values }: SetUse): boolean {
  const spelled = (fields: IndexDefinition['terms']) => fields.map(({ path }) => path && pathSpelling(path))
  const ownTerms = new Set(spelled(index.terms))
  const ownValues = spelled(index.values)
  return (
    ownTerms.size === terms.length &&
    terms.every(path => ownTerms.has(pathSpelling(path))) &&
    values.every((path, at) => ownValues[at] === pathSpelling(path))
  )
}

function mapOf(fields: Readonly<Record<string, Value>>): ObjectValue {
  return new Map(Object.entries(fields))
}
