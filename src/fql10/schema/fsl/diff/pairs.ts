// Two lists side by side: what is only in the one, only in the other, and what belongs together.

/** What belongs together, as it was and as it is. */
export interface Pair<T> {
  readonly before: T
  readonly after: T
}

/** Two lists side by side: what was added is in the order of the new one, everything else in that of the old. */
export interface Paired<T> {
  readonly added: readonly T[]
  readonly removed: readonly T[]
  readonly kept: readonly Pair<T>[]
}

/** Pairs the elements of two lists by a key that tells those of one list apart. */
export function paired<T>(before: readonly T[], after: readonly T[], keyOf: (item: T) => string): Paired<T> {
  const found = new Map(after.map(item => [keyOf(item), item]))
  const old = new Set(before.map(keyOf))
  const kept: Pair<T>[] = []
  const removed: T[] = []
  for (const item of before) {
    const next = found.get(keyOf(item))
    if (next === undefined) removed.push(item)
    else kept.push({ before: item, after: next })
  }
  return { added: after.filter(item => !old.has(keyOf(item))), removed, kept }
}
