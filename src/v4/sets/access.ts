// What a caller may see of sets: whether it may read one at all, and which of its elements.

import type { IndexDefinition } from '../../store/contract.ts'
import type { CollectionId, Ref, Value } from '../../values/value.ts'
import type { Call } from '../definition.ts'
import { mayOnDocument, mayRead } from '../permissions.ts'
import type { Reading } from './reading.ts'

/** Decides for one document after the other whether it shows. */
export type ElementFilter = (document: Ref) => boolean

const everything: ElementFilter = () => true

/** Shows the documents that the caller may read. Built-in roles decide by collection: asked once for each. */
function readableDocuments(call: Call): ElementFilter {
  if (call.evaluation.authority.kind === 'roles') return document => mayRead(document, call)
  const decided = new Map<CollectionId, boolean>()
  return document => {
    const known = decided.get(document.collection)
    if (known !== undefined) return known
    const readable = mayRead(document, call)
    decided.set(document.collection, readable)
    return readable
  }
}

/** What shows of an index under these terms; undefined when the caller may not read it. */
export function indexFilter(
  index: IndexDefinition,
  terms: readonly Value[],
  { call, hidden }: Reading,
): ElementFilter | undefined {
  const { access } = call.evaluation
  const request = { resource: index.ref, argument: () => terms, asker: call }
  if (access.allows({ ...request, action: 'unrestricted_read' })) return everything
  const isPublic = index.publicRead && index.ref.database === call.evaluation.database
  if (!isPublic && !access.allows({ ...request, action: 'read' })) return undefined
  return hidden === 'shown' ? everything : readableDocuments(call)
}

/** What shows of the documents of a collection. */
export function documentsFilter(collection: Ref, call: Call): ElementFilter {
  const request = {
    action: 'unrestricted_read',
    resource: collection,
    argument: () => null,
    asker: call,
  } as const
  return call.evaluation.access.allows(request) ? everything : readableDocuments(call)
}

/** What shows of a native collection; undefined when the caller may not list it. */
export function nativeFilter(collection: Ref, call: Call): ElementFilter | undefined {
  const request = { action: 'read', resource: collection, argument: () => collection, asker: call } as const
  return call.evaluation.access.allows(request) ? readableDocuments(call) : undefined
}

/** Whether the caller may see the history of a document, which its own set is made of. */
export function mayReadHistory(document: Ref, call: Call): boolean {
  return mayOnDocument('history_read', document, call)
}
