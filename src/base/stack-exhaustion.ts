// Detects stack overflows of the runtime, caused by nesting that the counted limits allow.

/** Returns whether an error is a stack overflow. */
export function isStackExhaustion(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded'
}
