// Failures of one class as results.

/** What `work` gives, or what `otherwise` makes of an error of that class. All other errors go through. */
export function recovering<T, E, U>(
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
