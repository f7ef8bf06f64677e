// A full outer merge join: yields the elements of two ordered sequences in the order of `compare`, elements that are
// equal by `compare` as a pair, and other elements paired with `undefined`. Lazy: a sequence advances only after the
// consumer has used its current element. Both iterators are closed when the iteration ends.

export function* mergeJoin<L, R>(
  left: Iterable<L>,
  right: Iterable<R>,
  compare: (left: L, right: R) => number,
): Generator<readonly [L | undefined, R | undefined], undefined> {
  const lefts = left[Symbol.iterator]()
  const rights = right[Symbol.iterator]()
  try {
    let l = lefts.next()
    let r = rights.next()
    while (!(l.done && r.done)) {
      const order = l.done ? 1 : r.done ? -1 : compare(l.value, r.value)
      yield [order <= 0 ? l.value : undefined, order >= 0 ? r.value : undefined]
      if (order <= 0) l = lefts.next()
      if (order >= 0) r = rights.next()
    }
  } finally {
    lefts.return?.()
    rights.return?.()
  }
}
