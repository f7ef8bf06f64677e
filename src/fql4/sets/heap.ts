// A binary heap: finds the least of many items with logarithmic cost for each added or removed item.

export class Heap<T> {
  readonly #items: T[] = []
  readonly #compare: (left: T, right: T) => number

  constructor(compare: (left: T, right: T) => number) {
    this.#compare = compare
  }

  peek(): T | undefined {
    return this.#items[0]
  }

  push(item: T): void {
    const items = this.#items
    let index = items.length
    while (index > 0) {
      const parent = (index - 1) >> 1
      if (this.#compare(items[parent] as T, item) <= 0) break
      items[index] = items[parent] as T
      index = parent
    }
    items[index] = item
  }

  pop(): T | undefined {
    const items = this.#items
    const least = items[0]
    const last = items.pop()
    if (items.length > 0) this.#sink(last as T)
    return least
  }

  #sink(item: T): void {
    const items = this.#items
    let index = 0
    for (;;) {
      let child = 2 * index + 1
      if (child >= items.length) break
      const right = child + 1
      if (right < items.length && this.#compare(items[right] as T, items[child] as T) < 0) child = right
      if (this.#compare(item, items[child] as T) <= 0) break
      items[index] = items[child] as T
      index = child
    }
    items[index] = item
  }
}
