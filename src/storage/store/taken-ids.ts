// Determines which ids must not be used for new documents.

import { native, type Ref } from '../../values/value.ts'
import { documentKey, historyRange, keyHomeKey } from '../keys/keyspace.ts'
import type { View } from '../kv/contract.ts'
import { parentKey } from './catalogue.ts'
import { firstOf } from './snapshot.ts'

/**
 * Returns whether any version of a document is stored, including versions of a deleted or expired document. Ids of
 * databases and keys are unique in the whole store, not only in their database.
 */
export function isStored(view: View, ref: Ref): boolean {
  if (view.get(documentKey(ref)) !== undefined) return true
  if (firstOf(view, historyRange(ref)) !== undefined) return true
  if (ref.collection === native.databases) return view.get(parentKey(ref.id)) !== undefined
  return ref.collection === native.keys && view.get(keyHomeKey(ref.id)) !== undefined
}
