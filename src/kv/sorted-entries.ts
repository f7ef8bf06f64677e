// A sorted list of entries for the memory engine. Entries lie in chunks of bounded size, so an insertion moves at
// most one chunk's worth of pointers however many entries there are.

import type { Bytes, Entry } from './contract.ts'

const chunkEntriesMax = 512

/** The first entry whose key is not below some key, if there is one. */
interface Place {
  /** Number of the chunk; one past the last when all keys are below. */
  readonly chunk: number
  readonly index: number
  readonly entry: Entry | undefined
}

/** Entries by key, bytewise. Holds the arrays it is given: the caller copies. */
export class SortedEntries {
  /** Never holds an empty chunk. */
  readonly #chunks: Entry[][] = []

  get(key: Bytes): Bytes | undefined {
    const { entry } = this.#place(key)
    return entry && hasKey(entry, key) ? entry.value : undefined
  }

  set(entry: Entry): void {
    const place = this.#place(entry.key)
    const entries = this.#chunks[place.chunk]
    if (!entries) {
      this.#append(entry)
    } else if (place.entry && hasKey(place.entry, entry.key)) {
      entries[place.index] = entry
    } else {
      entries.splice(place.index, 0, entry)
      if (entries.length > chunkEntriesMax) {
        this.#chunks.splice(place.chunk + 1, 0, entries.splice(chunkEntriesMax >> 1))
      }
    }
  }

  delete(key: Bytes): void {
    const { chunk, index, entry } = this.#place(key)
    if (entry && hasKey(entry, key)) this.#remove(chunk, index)
  }

  *ascending(start: Bytes, end: Bytes): Generator<Entry> {
    const from = this.#place(start)
    let index = from.index
    for (let chunk = from.chunk; chunk < this.#chunks.length; chunk++, index = 0) {
      for (const entry of this.#chunks[chunk]?.slice(index) ?? []) {
        if (Buffer.compare(entry.key, end) >= 0) return
        yield entry
      }
    }
  }

  *descending(start: Bytes, end: Bytes): Generator<Entry> {
    const to = this.#place(end)
    let stop: number | undefined = to.index
    for (let chunk = to.chunk; chunk >= 0; chunk--, stop = undefined) {
      for (const entry of this.#chunks[chunk]?.slice(0, stop).reverse() ?? []) {
        if (Buffer.compare(entry.key, start) < 0) return
        yield entry
      }
    }
  }

  #place(key: Bytes): Place {
    const chunk = firstNotBelow(this.#chunks, entries => isBelow(entries.at(-1), key))
    const entries = this.#chunks[chunk] ?? []
    const index = firstNotBelow(entries, entry => isBelow(entry, key))
    return { chunk, index, entry: entries[index] }
  }

  /** Adds an entry with the largest key of all. */
  #append(entry: Entry): void {
    const last = this.#chunks.at(-1)
    if (last && last.length < chunkEntriesMax) last.push(entry)
    else this.#chunks.push([entry])
  }

  #remove(chunk: number, index: number): void {
    const entries = this.#chunks[chunk]
    if (!entries) return
    entries.splice(index, 1)
    if (entries.length === 0) this.#chunks.splice(chunk, 1)
  }
}

function hasKey(entry: Entry, key: Bytes): boolean {
  return Buffer.compare(entry.key, key) === 0
}

function isBelow(entry: Entry | undefined, key: Bytes): boolean {
  return entry !== undefined && Buffer.compare(entry.key, key) < 0
}

/** The index of the first item of a sorted list that is not below; the list's length when all are. */
function firstNotBelow<T>(list: readonly T[], isBelow: (item: T) => boolean): number {
  let low = 0
  let high = list.length
  while (low < high) {
    const middle = (low + high) >> 1
    const item = list[middle]
    if (item !== undefined && isBelow(item)) low = middle + 1
    else high = middle
  }
  return low
}
