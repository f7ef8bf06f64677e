// What recent-writes.ts keeps of the keys that commits have written: places in a table of fixed size, spans from one key to
// another, and bytes that another process can be told.

import { byteText } from '../base/byte-text.ts'
import { hashByte, hashBytes, hashSeed } from '../base/bytes.ts'
import type { Bytes, Write } from './contract.ts'
import type { ReadRange } from './noted-reads.ts'

/** What precedes each key where keys stand one after the other, in bytes. */
export const lengthBytes = 2
/** Spans that are kept of a commit. */
const spansMax = 64
/** Bytes that the keys of a span have in common: their kind and their database. */
const spanPrefixBytes = 9
/** Places of the table; a power of two. */
export const placesMax = 1 << 20

/** From the first to the last of some keys, by their `byteText`. */
export interface Span {
  first: string
  last: string
}

/** What is known of the commits between two times, for another process: a plain value that can be cloned. */
export interface ToldWrites {
  /** The time of the commit before them. */
  readonly after: number
  /** The time of the last of them. */
  readonly upTo: number
  /** The places of all keys that were written; empty where `keys` holds them all and they are few. */
  readonly places: Uint32Array
  /** The keys of small commits, each with its length before it. */
  readonly keys: Uint8Array
  readonly keyCount: number
  /** Those of larger ones. */
  readonly spans: readonly Span[]
  /** Of some commits only the places are known. */
  readonly isPartial: boolean
}

/** Keys that stand one after the other, each with its length before it. */
export function keysIn(bytes: Uint8Array): Bytes[] {
  const keys: Bytes[] = []
  for (let at = 0; at < bytes.length; ) {
    const begin = at + lengthBytes
    at = begin + ((bytes[at] as number) << 8) + (bytes[at + 1] as number)
    keys.push(bytes.subarray(begin, at))
  }
  return keys
}

/** The bit that stands for the first byte of a key, and for some others. */
export function kindBit(firstByte: number): number {
  return 1 << (firstByte & 31)
}

/** The kinds of keys that ranges can hold. */
export function kindsOf(ranges: readonly ReadRange[]): number {
  let kinds = 0
  for (const { end, start } of ranges) {
    if (start >= end) continue
    const first = start === '' ? 0 : start.charCodeAt(0)
    const last = Math.min(end.charCodeAt(0), first + 31)
    for (let byte = first; byte <= last; byte++) kinds |= kindBit(byte)
  }
  return kinds
}

/** A span for each kind of key and database. */
export function spansOf(writes: readonly Write[]): readonly Span[] | undefined {
  const spans = new Map<string, Span>()
  for (const { key } of writes) {
    const text = byteText(key)
    const prefix = text.slice(0, spanPrefixBytes)
    const span = spans.get(prefix)
    if (span === undefined) {
      if (spans.size === spansMax) return undefined
      spans.set(prefix, { first: text, last: text })
    } else if (text < span.first) span.first = text
    else if (text > span.last) span.last = text
  }
  return [...spans.values()]
}

/** The place of a key: the hash of its bytes, folded. */
export function placeOfKey(key: Bytes): number {
  return placeOfHash(hashBytes(key))
}

/** The same of a key's `byteText`. */
export function placeOfText(text: string): number {
  let hash = hashSeed
  for (let at = 0; at < text.length; at++) hash = hashByte(hash, text.charCodeAt(at))
  return placeOfHash(hash)
}

/** The place of a hash. */
export function placeOfHash(hash: number): number {
  return (hash ^ (hash >>> 20)) & (placesMax - 1)
}
