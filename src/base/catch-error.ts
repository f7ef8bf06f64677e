// Converts errors of one class into results, and detects stack overflows, which can occur even if the nesting is within
// the service's limits.

/** Returns the result of `otherwise` if `work` throws an error of the class `type`. Other errors propagate. */
export function catchError<T, E, U>(
  type: abstract new (...args: never[]) => E,
  work: () => T,
  otherwise: (error: E) => U,
): T | U {
  try {
    return work()
  } catch (error) {
    if (error instanceof type) return otherwise(error)
    throw error
  }
}

export function isStackExhaustion(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded'
}
