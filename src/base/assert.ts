// Broken invariants are bugs: they fail the request that met them and are logged, never shown to a client.

/** Thrown when something that must hold does not. The request fails with 500, without detail. */
export class InvariantError extends Error {
  override name = 'InvariantError'
}

/** Throws an {@link InvariantError} unless `condition` holds. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new InvariantError(message)
}

/** Ends a `switch` over a closed union: reached only when a member was forgotten. */
export function unreachable(value: never): never {
  throw new InvariantError(`unreachable: ${String(value)}`)
}
