// Permission decisions for sets: decides whether the caller may read a set, and filters its elements.

import { indexDefinition } from '../../storage/store/index-definition.ts'
import { native, type Ref, type Value } from '../../values/value.ts'
import { mayOnDocument, mayRead } from '../permissions.ts'
import type { Session } from '../session.ts'
import type { Reading } from './reading.ts'

/** Returns whether the caller may read the element with the reference `document`. */
export type ElementFilter = (document: Ref) => boolean

const everything: ElementFilter = () => true

/** Returns a filter that accepts the documents that the caller may read. */
function readableDocuments(session: Session): ElementFilter {
  return document => mayRead(document, session)
}

/**
 * Returns an index and the filter for its entries with the given terms. Returns undefined if the index does not exist
 * or the caller may not read it.
 */
export function readableIndex(ref: Ref, terms: readonly Value[], { hidden, session }: Reading) {
  const { access, transaction, database } = session
  const index = transaction.catalogue.index(ref)
  if (!index) return undefined
  const request = { resource: ref, argument: () => terms }
  if (access.allows({ ...request, action: 'unrestricted_read' })) return { index, shows: everything }
  const isPublic = index.publicRead && ref.database === database
  if (!isPublic && !access.allows({ ...request, action: 'read' })) return undefined
  return { index, shows: hidden === 'shown' ? everything : readableDocuments(session) }
}

/**
 * Returns the filter for the documents of a collection. If the caller has the right `unrestricted_read`, the filter
 * accepts all documents.
 */
export function documentsFilter(collection: Ref, session: Session): ElementFilter {
  const request = { action: 'unrestricted_read', resource: collection, argument: () => null } as const
  const shows = session.access.allows(request) ? everything : readableDocuments(session)
  return listed(collection, shows, session)
}

/** In the native collection of indexes, excludes the indexes that are part of collection definitions. */
function listed(collection: Ref, shows: ElementFilter, session: Session): ElementFilter {
  if (collection.id !== BigInt(native.indexes)) return shows
  return document => !isOwnIndex(document, session) && shows(document)
}

/** Returns the filter for the documents of a collection, without a check of the right `unrestricted_read`. */
export function readableDocumentsOf(collection: Ref, session: Session): ElementFilter {
  return listed(collection, readableDocuments(session), session)
}

/**
 * Returns the filter for the documents of a native collection in version 4. Returns undefined if the caller may not
 * read the collection itself.
 */
export function nativeFilter(collection: Ref, session: Session): ElementFilter | undefined {
  const request = { action: 'read', resource: collection, argument: () => collection } as const
  return session.access.allows(request) ? readableDocumentsOf(collection, session) : undefined
}

function isOwnIndex(index: Ref, { transaction }: Session): boolean {
  const definition = transaction.catalogue.index(index)
  if (definition !== undefined) return definition.isOwn
  for (const version of transaction.versions(index)) {
    if (version.action !== 'delete') return indexDefinition(version).isOwn
  }
  return false
}

/** Returns whether the caller may read the history of a document. */
export function mayReadHistory(document: Ref, session: Session): boolean {
  return mayOnDocument('history_read', document, session)
}
