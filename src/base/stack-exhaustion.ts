// The runtime's own stack ran out: deep nesting that the counted limits let through.

/** Whether an error tells so. */
export function isStackExhaustion(error: unknown): boolean {
  return error instanceof RangeError && error.message === 'Maximum call stack size exceeded'
}
