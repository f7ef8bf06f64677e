// Matches the elements of an old and a new list by their keys.

/** Elements of the old and the new list with the same key. */
export interface Pair<T> {
  readonly before: T
  readonly after: T
}

/** `added` has the order of the new list. `removed` and `kept` have the order of the old list. */
export interface Matching<T> {
  readonly added: readonly T[]
  readonly removed: readonly T[]
  readonly kept: readonly Pair<T>[]
}

/** The key must be unique within each list. */
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
