// What was read of a state, noted so that one can ask later, of another state, whether it would be read just so again:
// keys with what stood there, and ranges up to where reading stopped, so that what came between counts as well.

import { createHash, type Hash, hash } from 'node:crypto'
import { byteText, textBytes } from '../../base/byte-text.ts'
import type { Bytes, Entry, KeyRange, View } from './contract.ts'

/** What stood under a key: the value, or its fingerprint when it is long; undefined when there was none. */
export type NotedRow = Bytes | string | undefined

/** The part of a range that was read. */
export interface ReadRange {
  /** `byteText` of the first key that counts. */
  readonly start: string
  /** `byteText` of the first key behind it that does not. */
  readonly end: string
  readonly reverse: boolean
  readonly entries: number
  /** Of all entries as they were read; undefined when there were none. */
  readonly fingerprint: string | undefined
}

/** Everything that was read of one state. */
export interface ReadSet {
  /** By the `byteText` of the key. */
  readonly keys: ReadonlyMap<string, NotedRow>
  readonly ranges: readonly ReadRange[]
}

/** Longer values are noted by their fingerprint, in bytes. */
const plainBytesMax = 4096

/** A view that notes what is read of another one. */
export class NotingView implements View {
  readonly #base: View
  readonly #isNoted: (key: Bytes) => boolean
  readonly #keys = new Map<string, NotedRow>()
  readonly #ranges: NotedRange[] = []
  readonly #absent: ReadRange[] = []

  /** `isNoted`: whether a key that is read by itself counts. */
  constructor(base: View, isNoted: (key: Bytes) => boolean = () => true) {
    this.#base = base
    this.#isNoted = isNoted
  }

  get(key: Bytes, known?: Bytes): Bytes | undefined {
    if (!this.#isNoted(key)) return this.#base.get(key, known)
    const text = byteText(key)
    const noted = this.#keys.get(text)
    const isNew = noted === undefined && !this.#keys.has(text)
    // The state does not change, so what has been read of it need not be read again.
    if (!isNew && typeof noted !== 'string' && known === undefined) return noted
    const value = this.#base.get(key, known)
    if (isNew) this.#keys.set(text, foundOf(value))
    return value
  }

  range(range: KeyRange): Iterable<Entry> {
    return { [Symbol.iterator]: () => this.#iterate(range) }
  }

  noteAbsent(key: Bytes, { end, start }: Pick<KeyRange, 'start' | 'end'>): void {
    const text = byteText(key)
    if (!this.#keys.has(text)) this.#keys.set(text, undefined)
    const range = { start: byteText(start), end: byteText(end) }
    this.#absent.push({ ...range, reverse: false, entries: 0, fingerprint: undefined })
  }

  /** What has been read so far. */
  reads(): ReadSet {
    return { keys: this.#keys, ranges: [...this.#absent, ...this.#ranges.map(range => range.read())] }
  }

  *#iterate(range: KeyRange): Generator<Entry> {
    const noted = new NotedRange(range)
    this.#ranges.push(noted)
    for (const entry of this.#base.range(range)) {
      noted.add(entry)
      yield entry
    }
    noted.finish()
  }
}

function foundOf(value: Bytes | undefined): NotedRow {
  if (value === undefined || value.length <= plainBytesMax) return value
  return hash('sha1', value, 'latin1')
}

/** A range while it is being read. */
class NotedRange {
  readonly #range: KeyRange
  readonly #fingerprint = new Fingerprint()
  #last: Bytes | undefined
  #isAtEnd = false

  constructor(range: KeyRange) {
    this.#range = range
  }

  add(entry: Entry): void {
    this.#fingerprint.add(entry)
    this.#last = entry.key
  }

  /** There is nothing more to read: because the range ends, or because of its limit. */
  finish(): void {
    this.#isAtEnd = this.#fingerprint.entries !== this.#range.limit
  }

  /** Beyond the last entry nothing was read, unless reading came to the end of the range. */
  read(): ReadRange {
    const reverse = this.#range.reverse === true
    const { entries } = this.#fingerprint
    let start = byteText(this.#range.start)
    let end = byteText(this.#range.end)
    if (!this.#isAtEnd) {
      const last = this.#last === undefined ? undefined : byteText(this.#last)
      if (last === undefined) end = start
      else if (reverse) start = last
      else end = `${last}\0`
    }
    return { start, end, reverse, entries, fingerprint: this.#fingerprint.text }
  }
}

/** A fingerprint of entries in the order in which they come. */
class Fingerprint {
  entries = 0
  #hash: Hash | undefined

  add({ key, value }: Entry): void {
    this.#hash ??= createHash('sha1')
    lengths[0] = key.length
    lengths[1] = value.length
    this.#hash.update(lengths).update(key).update(value)
    this.entries++
  }

  get text(): string | undefined {
    return this.#hash?.copy().digest('latin1')
  }
}

/** So that no two entries have the bytes of two others. */
const lengths = new Uint32Array(2)

/** Keys and entries that it takes to read a set again. */
export function sizeOf(reads: ReadSet): number {
  let size = reads.keys.size
  for (const { entries } of reads.ranges) size += 1 + entries
  return size
}

/** Whether all of a set is read from `view` as it was then. */
export function readsAgree(reads: ReadSet, view: View): boolean {
  for (const [text, found] of reads.keys) if (!isSame(found, view.get(textBytes(text)))) return false
  return reads.ranges.every(range => rangeAgrees(range, view))
}

function isSame(found: NotedRow, value: Bytes | undefined): boolean {
  if (found === undefined || value === undefined) return found === value
  if (typeof found === 'string') return foundOf(value) === found
  return Buffer.compare(found, value) === 0
}

function rangeAgrees(range: ReadRange, view: View): boolean {
  const fingerprint = new Fingerprint()
  const { entries, reverse } = range
  const [start, end] = [textBytes(range.start), textBytes(range.end)]
  for (const entry of view.range({ start, end, reverse, limit: entries + 1 })) fingerprint.add(entry)
  return fingerprint.entries === entries && fingerprint.text === range.fingerprint
}
