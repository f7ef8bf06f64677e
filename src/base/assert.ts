// Assertions of invariants. A broken invariant is a bug: it fails the request and is logged, but clients never see its
// message.

/** Thrown when an invariant does not hold. The request fails with 500, without detail. */
export class InvariantError extends Error {
  override name = 'InvariantError'
}

/** Throws an {@link InvariantError} unless `condition` holds. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** Ends a `switch` over a closed union: it is reached only when a member of the union is not handled. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${String(value)}`)
}
