// Recognises errors: converts errors of one class into results, and detects stack overflows. The stack can overflow
// even if the nesting is within the service's limits.

/** The result of `work`, or of `otherwise` for an error of the class `type`. Other errors propagate. */
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

/** Returns whether an error is a stack overflow. */
export function isStackExhaustion(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded'
}
