// Decides whether the caller may read a set, and filters its elements.

import { indexDefinition } from '../../storage/store/index-definition.ts'
import { native, type Ref, type Value } from '../../values/value.ts'
import { mayOnDocument, mayRead } from '../permissions.ts'
import type { Session } from '../session.ts'

export type ElementFilter = (document: Ref) => boolean

/** The filter that accepts all documents. */
export const allDocuments: ElementFilter = () => true

/** Accepts the documents that the caller may read. */
export function readableDocuments(session: Session): ElementFilter {
  return document => mayRead(document, session)
}

/**
 * `isFiltered` is false if the caller has the right `unrestricted_read`, so that entries with the given terms are not
 * filtered. Returns undefined if the index does not exist or the caller may not read it.
 */
export function readableIndex(ref: Ref, terms: readonly Value[], { access, database, transaction }: Session) {
  const index = transaction.catalogue.index(ref)
  if (!index) return undefined
  const request = { resource: ref, argument: () => terms }
  if (access.allows({ ...request, action: 'unrestricted_read' })) return { index, isFiltered: false }
  const isPublic = index.publicRead && ref.database === database
  return isPublic || access.allows({ ...request, action: 'read' }) ? { index, isFiltered: true } : undefined
}

/** Returns whether the caller has the right `unrestricted_read` for a collection. */
export function mayReadAll(collection: Ref, { access }: Session): boolean {
  return access.allows({ action: 'unrestricted_read', resource: collection, argument: () => null })
}

/** Returns whether the caller may read a native collection as a set of version 4. */
export function mayReadNative(collection: Ref, { access }: Session): boolean {
  return access.allows({ action: 'read', resource: collection, argument: () => collection })
}

/**
 * Accepts the documents that a collection lists, for any caller. A list of indexes does not contain the indexes that
 * are part of collection definitions.
 */
export function listedDocumentsOf(collection: Ref, session: Session): ElementFilter {
  return listed(collection, allDocuments, session)
}

/** Accepts the listed documents that the caller may read. */
export function readableDocumentsOf(collection: Ref, session: Session): ElementFilter {
  return listed(collection, readableDocuments(session), session)
}

function listed(collection: Ref, isVisible: ElementFilter, session: Session): ElementFilter {
  if (collection.id !== BigInt(native.indexes)) return isVisible
  return document => !isOwnIndex(document, session) && isVisible(document)
}

function isOwnIndex(index: Ref, { transaction }: Session): boolean {
  const definition = transaction.catalogue.index(index)
  if (definition !== undefined) return definition.isOwn
  // The definition of a deleted index is only in its versions.
  for (const version of transaction.versions(index)) {
    if (version.action !== 'delete') return indexDefinition(version).isOwn
  }
  return false
}

export function mayReadHistory(document: Ref, session: Session): boolean {
  return mayOnDocument('history_read', document, session)
}
