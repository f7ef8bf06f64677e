// Waiting jobs of many queues that take turns: whoever has many waits behind others who have few.

export class FairQueue<T> {
  /** In the order in which it is their turn. */
  readonly #queues = new Map<string, T[]>()
  #size = 0

  get size(): number {
    return this.#size
  }

  lengthOf(queue: string): number {
    return this.#queues.get(queue)?.length ?? 0
  }

  add(queue: string, item: T): void {
    const items = this.#queues.get(queue)
    if (items) items.push(item)
    else this.#queues.set(queue, [item])
    this.#size++
  }

  /** Takes the next item of the first queue that `mayRun`; that queue is the last one then. */
  take(mayRun: (queue: string) => boolean): T | undefined {
    for (const [queue, items] of this.#queues) {
      if (!mayRun(queue)) continue
      const item = items.shift() as T
      this.#size--
      this.#queues.delete(queue)
      if (items.length > 0) this.#queues.set(queue, items)
      return item
    }
    return undefined
  }

  /** Takes an item out that need not wait any more. */
  remove(queue: string, item: T): void {
    const items = this.#queues.get(queue)
    const place = items?.indexOf(item) ?? -1
    if (!items || place < 0) return
    items.splice(place, 1)
    this.#size--
    if (items.length === 0) this.#queues.delete(queue)
  }
}
