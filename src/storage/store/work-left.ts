// What the background has to do yet, for those who run the service: indexes and collections under way, and what was deleted
// and is not removed yet. It is read from the same rows by which the background goes.

import { type CollectionId, collectionOf, type DatabaseId, type Ref } from '../../values/value.ts'
import { buildErrorField, namedCollections } from './definitions.ts'
import { rewriteProgress, rewrittenCollection } from './document-rewriter.ts'
import { everyDocument } from './documents.ts'
import { pendingBuildsIn, progressOf } from './index-builder.ts'
import { workOf } from './sweeper-work.ts'
import type { StoreTransaction } from './transaction.ts'

/** Builds that are told one by one, and deleted objects that are counted. */
const buildsMax = 100
const removalsMax = 1_000

/** An index that is built over documents that were there before, or a collection whose documents get a new shape. */
interface BuildLeft {
  readonly kind: 'index' | 'collection'
  /** Names of the databases, outermost first. */
  readonly database: readonly string[]
  readonly name: string
  /** About how much of it is done, 0 to 1, by the ids of documents; they need not lie evenly. */
  readonly share: number
  /** Why it does not come to an end. */
  readonly failure: string | undefined
}

export interface WorkLeft {
  /** The first of them. */
  readonly builds: readonly BuildLeft[]
  readonly buildsCount: number
  /** Deleted databases, collections and indexes whose rows are not all removed, at most 1000 counted. */
  readonly removals: number
}

/** What is left to do in the state of a transaction. */
export function workLeft(transaction: StoreTransaction): WorkLeft {
  const { view } = transaction.snapshot
  const builds = pendingBuildsIn(view)
  const removals = [...workOf(view, 'object', undefined, removalsMax)]
  return {
    builds: builds.slice(0, buildsMax).map(build => buildLeft(transaction, build)),
    buildsCount: builds.length,
    removals: removals.length,
  }
}

function buildLeft(transaction: StoreTransaction, build: Ref): BuildLeft {
  const { catalogue } = transaction
  const { database, id } = build
  const names = catalogue.lineage(database).map(({ name }) => name)
  const collection = rewrittenCollection(build)
  const object = collection === undefined ? build : collectionOf({ database, collection })
  const failure = transaction.get(object)?.fields.get(buildErrorField)
  return {
    kind: collection === undefined ? 'index' : 'collection',
    database: names.reverse(),
    name: catalogue.nameOf(object) ?? String(id),
    share:
      collection === undefined
        ? indexShare(transaction, build)
        : rewriteShare(transaction, database, collection),
    failure: typeof failure === 'string' ? failure : undefined,
  }
}

function indexShare(transaction: StoreTransaction, index: Ref): number {
  const { catalogue, snapshot } = transaction
  const definition = catalogue.index(index)
  const progress = progressOf(snapshot.view, index)
  if (definition === undefined || progress === undefined) return 0
  const collections = [...(namedCollections(definition) ?? catalogue.collectionsOf(index.database))]
  const done = collections.filter(collection => collection < progress.collection).length
  const within = idShare(transaction, index.database, progress.collection, progress.id)
  return (done + within) / Math.max(1, collections.length)
}

function rewriteShare(transaction: StoreTransaction, database: DatabaseId, collection: CollectionId): number {
  const progress = rewriteProgress(transaction.snapshot.view, database, collection)
  if (progress === undefined) return 0
  const within = idShare(transaction, database, collection, progress.id)
  return progress.isPast ? 0.5 + within / 2 : within / 2
}

/** Where an id lies among those of a collection, 0 to 1. */
function idShare(
  { snapshot }: StoreTransaction,
  database: DatabaseId,
  collection: CollectionId,
  id: bigint,
): number {
  const [first] = everyDocument(snapshot, database, collection)
  const [last] = everyDocument(snapshot, database, collection, undefined, true)
  if (first === undefined || last === undefined || id <= first.id) return 0
  if (id >= last.id) return 1
  return Number(((id - first.id) * 1000n) / (last.id - first.id)) / 1000
}
