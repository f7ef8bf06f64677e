// Matches the elements of two lists.

/** Matching elements of both lists. */
export interface Pair<T> {
  readonly before: T
  readonly after: T
}

/** The result of matching. Added elements have the order of the new list, all others the order of the old list. */
export interface Matching<T> {
  readonly added: readonly T[]
  readonly removed: readonly T[]
  readonly kept: readonly Pair<T>[]
}

/** Matches the elements of two lists by a key that is unique within each list. */
export function matchByKey<T>(
  before: readonly T[],
  after: readonly T[],
  keyOf: (item: T) => string,
): Matching<T> {
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
