// Assertions of invariants. A violated invariant is a bug. The request fails, and the message is logged but not sent to
// the client.

/** Thrown when an invariant is violated. The request fails with 500, without detail. */
export class InvariantError extends Error {
  override name = 'InvariantError'
}

/** Throws an {@link InvariantError} if `condition` is falsy. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/**
 * Called at the end of a `switch` over a closed union. The compiler reports a member of the union that is not handled.
 */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${String(value)}`)
}
