// Converts errors of one class into results.

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
