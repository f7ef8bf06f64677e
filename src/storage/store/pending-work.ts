// Reports pending background work to operators: running builds and rewrites, and deleted objects whose data is not
// removed yet.

import { type CollectionId, collectionOf, type DatabaseId, type Ref } from '../../values/value.ts'
import { rewriteProgress, rewrittenCollection } from './document-rewriter.ts'
import { documentsBelow } from './id-distribution.ts'
import { pendingBuildsIn, progressOf } from './index-builder.ts'
import { buildErrorField, namedCollections } from './index-definition.ts'
import { workOf } from './sweeper-work.ts'
import type { StoreTransaction } from './transaction.ts'

/** Maximum number of builds in the report. */
const buildsMax = 100
const removalsMax = 1_000

/**
 * An index that is built over existing documents, or a collection whose documents are rewritten to a new shape
 * (structure of fields).
 */
interface PendingBuild {
  readonly kind: 'index' | 'collection'
  /** Includes the ancestors, outermost first. */
  readonly database: readonly string[]
  readonly name: string
  /** Estimated progress, from 0 to 1. */
  readonly share: number
  /** The reason of the last failure, if any. */
  readonly failure: string | undefined
}

export interface PendingWork {
  /** Contains at most 100 builds. `buildsCount` counts all builds. */
  readonly builds: readonly PendingBuild[]
  readonly buildsCount: number
  /**
   * Deleted databases, collections and indexes that still have rows, and identities with revoked tokens that are not
   * deleted yet; at most 1000.
   */
  readonly removals: number
}

export function pendingWork(transaction: StoreTransaction): PendingWork {
  const { view } = transaction.snapshot
  const builds = pendingBuildsIn(view)
  const removals = [...workOf(view, 'object', undefined, removalsMax)]
  return {
    builds: builds.slice(0, buildsMax).map(build => pendingBuild(transaction, build)),
    buildsCount: builds.length,
    removals: removals.length,
  }
}

function pendingBuild(transaction: StoreTransaction, build: Ref): PendingBuild {
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
  let [all, done] = [0, 0]
  for (const collection of namedCollections(definition) ?? catalogue.collectionsOf(index.database)) {
    const from = collection === progress.collection ? progress.id : 0n
    const counted = documentsBelow(snapshot, index.database, collection, from)
    all += counted.all
    done += collection < progress.collection ? counted.all : counted.below
  }
  return shareOf(done, all)
}

function rewriteShare(transaction: StoreTransaction, database: DatabaseId, collection: CollectionId): number {
  const { snapshot } = transaction
  const progress = rewriteProgress(snapshot.view, database, collection)
  if (progress === undefined) return 0
  const { all, below } = documentsBelow(snapshot, database, collection, progress.id)
  const within = shareOf(below, all)
  return progress.isPast ? 0.5 + within / 2 : within / 2
}

/** Returns the share in thousandths, because the numbers are estimates. */
function shareOf(done: number, all: number): number {
  return all === 0 ? 0 : Math.floor((done / all) * 1000) / 1000
}
