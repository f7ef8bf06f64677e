// Entries from several places in one order.

import type { Entry } from './contract.ts'

interface Source {
  readonly entries: Iterator<Entry>
  head: Entry
}

/** One pass over sources that have no keys in common, each in the same order. Returning it returns the sources. */
export class Merged implements Iterator<Entry> {
  readonly #all: readonly Iterator<Entry>[]
  readonly #sign: number
  /** Those that have more, the next one last; undefined before the first step. */
  #sources: Source[] | undefined

  constructor(all: readonly Iterator<Entry>[], reverse: boolean) {
    this.#all = all
    this.#sign = reverse ? -1 : 1
  }

  next(): IteratorResult<Entry, undefined> {
    this.#sources ??= this.#begin()
    const sources = this.#sources
    const source = sources.at(-1)
    if (source === undefined) return { done: true, value: undefined }
    const value = source.head
    const following = source.entries.next()
    if (following.done) sources.pop()
    else {
      source.head = following.value
      this.#place(sources)
    }
    return { done: false, value }
  }

  return(): IteratorResult<Entry, undefined> {
    this.#sources = []
    for (const entries of this.#all) entries.return?.()
    return { done: true, value: undefined }
  }

  #begin(): Source[] {
    const sources: Source[] = []
    for (const entries of this.#all) {
      const first = entries.next()
      if (!first.done) sources.push({ entries, head: first.value })
    }
    return sources.sort((left, right) => this.#compare(right, left))
  }

  /** Moves the last source to its place; mostly it is there already. */
  #place(sources: Source[]): void {
    let at = sources.length - 1
    const moved = sources[at] as Source
    for (; at > 0; at--) {
      const before = sources[at - 1] as Source
      if (this.#compare(moved, before) <= 0) break
      sources[at] = before
    }
    sources[at] = moved
  }

  #compare(left: Source, right: Source): number {
    return Buffer.compare(left.head.key, right.head.key) * this.#sign
  }
}
