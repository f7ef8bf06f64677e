// What a caller may see of sets: whether it may read one at all, and which of its elements.

import type { IndexDefinition } from '../../storage/store/contract.ts'
import { indexDefinition } from '../../storage/store/definitions.ts'
import { type CollectionId, native, type Ref, type Value } from '../../values/value.ts'
import { mayOnDocument, mayRead } from '../permissions.ts'
import type { Session } from '../session.ts'
import type { Reading } from './reading.ts'

/** Decides for one document after the other whether it shows. */
export type ElementFilter = (document: Ref) => boolean

const everything: ElementFilter = () => true

/** Shows the documents that the caller may read. Built-in roles decide by collection: asked once for each. */
function readableDocuments(session: Session): ElementFilter {
  if (session.authority.kind === 'roles') return document => mayRead(document, session)
  const decided = new Map<CollectionId, boolean>()
  return document => {
    const known = decided.get(document.collection)
    if (known !== undefined) return known
    const readable = mayRead(document, session)
    decided.set(document.collection, readable)
    return readable
  }
}

/** What shows of an index under these terms; undefined when the caller may not read it. */
export function indexFilter(
  index: IndexDefinition,
  terms: readonly Value[],
  { hidden, session }: Reading,
): ElementFilter | undefined {
  const { access, asker } = session
  const request = { resource: index.ref, argument: () => terms, asker }
  if (access.allows({ ...request, action: 'unrestricted_read' })) return everything
  const isPublic = index.publicRead && index.ref.database === session.database
  if (!isPublic && !access.allows({ ...request, action: 'read' })) return undefined
  return hidden === 'shown' ? everything : readableDocuments(session)
}

/** What shows of the documents of a collection. */
export function documentsFilter(collection: Ref, session: Session): ElementFilter {
  const request = {
    action: 'unrestricted_read',
    resource: collection,
    argument: () => null,
    asker: session.asker,
  } as const
  const shows = session.access.allows(request) ? everything : readableDocuments(session)
  return listed(collection, shows, session)
}

/** Indexes that are part of the definition of a collection stand in no list. */
function listed(collection: Ref, shows: ElementFilter, session: Session): ElementFilter {
  if (collection.id !== BigInt(native.indexes)) return shows
  return document => !isOwnIndex(document, session) && shows(document)
}

/** Shows the documents of a collection that the caller may read; it may be none. */
export function readableDocumentsOf(collection: Ref, session: Session): ElementFilter {
  return listed(collection, readableDocuments(session), session)
}

/**
 * What shows of a native collection in version 4, where predicates of `read` decide about the collection itself first;
 * undefined when the caller may not list it.
 */
export function nativeFilter(collection: Ref, session: Session): ElementFilter | undefined {
  const request = {
    action: 'read',
    resource: collection,
    argument: () => collection,
    asker: session.asker,
  } as const
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

/** Whether the caller may see the history of a document, which its own set is made of. */
export function mayReadHistory(document: Ref, session: Session): boolean {
  return mayOnDocument('history_read', document, session)
}
