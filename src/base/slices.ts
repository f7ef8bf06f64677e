// Divides long synchronous work on many items into slices. Other work of the process runs between the slices.

/** A slice contains at least one item. */
const sliceMs = 10

/** `beforeSlice` is called after each pause, and may throw to end the work. */
export async function inSlices<T>(
  items: Iterable<T>,
  work: (item: T) => void,
  beforeSlice: () => void,
): Promise<void> {
  let endMs = performance.now() + sliceMs
  for (const item of items) {
    work(item)
    if (performance.now() < endMs) continue
    await nextTurn()
    beforeSlice()
    endMs = performance.now() + sliceMs
  }
}

/** Lets the other work of the process run. */
export function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve))
}
