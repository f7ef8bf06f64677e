// Two ordered sequences side by side.

/**
 * What the two hold in one order: pairs of what is equal by `compare`, and alone what only one of them has. Lazy: a sequence is
 * advanced when its head has been used; both are returned when the iteration ends.
 */
export function* joined<L, R>(
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
