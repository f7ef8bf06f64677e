// What a write does to the sets of an index, computed again from the two versions of the document: streams learn
// of changes long after the writing transaction, and only of those that are followed.

import { byteText } from '../base/byte-text.ts'
import { encodeTerms } from '../keys/terms.ts'
import type { Micros, Value } from '../values/value.ts'
import type { EntryChange, IndexDefinition, StoreHooks, Version } from './contract.ts'
import { byKey, entriesOfStored, type PreparedEntry, userIndex } from './index-tables.ts'
import type { NameHistories } from './name-history.ts'

/** The entries that only one of two versions has: remove events first. An undefined version has none. */
export function entryChanges(
  definition: IndexDefinition,
  before: Version | undefined,
  after: Version | undefined,
  { catalogue, hooks }: { readonly catalogue: NameHistories; readonly hooks: StoreHooks },
  snapshotTime: Micros,
): EntryChange[] {
  const index = userIndex(definition, hooks, catalogue)
  const [old, present] = [before, after].map(version => byKey(entriesOfStored(index, version, snapshotTime)))
  const changes: EntryChange[] = []
  for (const [key, entry] of old ?? []) if (!present?.has(key)) changes.push(change('remove', entry))
  for (const [key, entry] of present ?? []) if (!old?.has(key)) changes.push(change('add', entry))
  return changes
}

function change(action: EntryChange['action'], { terms, values, parts }: PreparedEntry): EntryChange {
  return { action, terms, values, termsKey: byteText(parts.terms) }
}

/** A text that two lists of terms share if and only if an index holds them to be the same. */
export function termsKey(terms: readonly Value[]): string {
  return byteText(encodeTerms(terms))
}
