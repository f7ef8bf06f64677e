// Brings a data directory of the layouts 1 and 2, which had all entries in one tree, to that of today (lmdb-trees.ts):
// in steps, each a transaction. Every entry is either in the tree before or in its new one; so what is
// interrupted can go on, and several processes may do it at once.

import type { RootDatabase } from 'lmdb'
import type { Bytes, Entry } from './contract.ts'
import type { ByteDatabase, Trees } from './lmdb-trees.ts'

const formerName = 'entries'
/** How many trees {@link moveEntries} opens beside those of today. */
export const formerTrees = 1

/** Entries that one transaction moves. */
const stepEntriesMax = 10_000
/** Bytes of values after which it moves no more. */
const stepBytesMax = 16 << 20

/** Moves all entries from the tree of the layout before to `trees`. */
export function moveEntries(
  root: RootDatabase<Bytes, Bytes>,
  open: (name: string) => ByteDatabase,
  trees: Trees,
): void {
  const former = open(formerName)
  while (root.transactionSync(() => moveSome(former, trees))) {}
}

/** Returns whether there were any. */
function moveSome(former: ByteDatabase, trees: Trees): boolean {
  const entries = firstOf(former)
  for (const { key, value } of entries) {
    trees.of(key).put(key, value)
    former.remove(key)
  }
  return entries.length > 0
}

function firstOf(former: ByteDatabase): readonly Entry[] {
  const entries: { readonly key: Bytes; readonly value: Bytes }[] = []
  let bytes = 0
  for (const entry of former.getRange({ limit: stepEntriesMax })) {
    entries.push(entry)
    bytes += entry.value.length
    if (bytes > stepBytesMax) break
  }
  return entries
}
