// Merges entries from several sources in one order.

import type { Entry } from './contract.ts'

interface Source {
  readonly entries: Iterator<Entry>
  head: Entry
}

/**
 * The entries of several sources that have no keys in common. All sources have the same order. The sources are closed
 * at the end.
 */
export function* merged(all: readonly Iterable<Entry>[], reverse: boolean): Generator<Entry> {
  const sign = reverse ? -1 : 1
  const compare = (left: Source, right: Source) => Buffer.compare(left.head.key, right.head.key) * sign
  const begun: Iterator<Entry>[] = []
  try {
    /** The sources that have more entries; the source of the next entry is last. */
    const sources: Source[] = []
    for (const each of all) {
      const entries = each[Symbol.iterator]()
      begun.push(entries)
      const first = entries.next()
      if (!first.done) sources.push({ entries, head: first.value })
    }
    sources.sort((left, right) => compare(right, left))
    for (let source = sources.at(-1); source !== undefined; source = sources.at(-1)) {
      yield source.head
      const following = source.entries.next()
      if (following.done) {
        sources.pop()
        continue
      }
      source.head = following.value
      // Usually the source is already in the right position.
      let at = sources.length - 1
      for (let before = sources[at - 1]; before && compare(source, before) > 0; before = sources[at - 1])
        sources[at--] = before
      sources[at] = source
    }
  } finally {
    for (const entries of begun) entries.return?.()
  }
}
