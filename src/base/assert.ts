// Asserts invariants. A violated invariant is a bug: the request fails with 500, and the message is logged but not sent
// to the client.

export class InvariantError extends Error {
  override name = 'InvariantError'
}

export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** Ends a `switch` over a closed union: the compiler then reports an unhandled member. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${String(value)}`)
}
