// The texts of the current section of a segment (segment-format.ts), and their numbers. A section ends after a megabyte
// or `textsMax` texts, and all numbers are then forgotten. So clients that send new texts with each request cannot
// increase the memory of the table, and cannot displace the texts of others: their texts only end sections sooner.

import { escaped } from './escaped.ts'
import { textFrame } from './segment-format.ts'
import type { SegmentWriter } from './segment-writer.ts'
import { writeVarint } from './varint.ts'

/** Maximum number of texts in a section. */
const textsMax = 16_384
/** Bytes of the longest head of a text frame. */
const frameHeadMax = 6
/** Maximum number of bytes in UTF-8 per UTF-16 code unit. */
const bytesPerUnit = 3

export class TextTable {
  readonly #segments: SegmentWriter
  #section = 0
  #size = 0
  /** Numbers of texts that are stored escaped, by the unescaped text. */
  readonly #plain = new Map<string, number>()
  /** Numbers of texts that are stored as they are. */
  readonly #exact = new Map<string, number>()
  /** Called when a section begins. */
  readonly #onSection: () => void

  constructor(segments: SegmentWriter, onSection: () => void) {
    this.#segments = segments
    this.#onSection = onSection
  }

  /** Number of texts in the section. */
  get size(): number {
    return this.#size
  }

  /** Begins a record, and a section if the current section is full. Returns false if the record is lost. */
  begin(): boolean {
    const section = this.#segments.begin(this.#size >= textsMax)
    if (section === this.#section) return true
    if (section === undefined) return false
    this.#section = section
    this.#size = 0
    this.#plain.clear()
    this.#exact.clear()
    this.#onSection()
    return true
  }

  /** Returns the number of a text, which is stored escaped for JSON. Throws {@link LostRecord}. */
  plain(text: string): number {
    const known = this.#plain.get(text)
    if (known !== undefined) return known
    const number = this.#add(escaped(text))
    this.#plain.set(text, number)
    return number
  }

  /** Returns the number of a text, which is stored unchanged and must be valid UTF-16. Throws {@link LostRecord}. */
  exact(text: string): number {
    const known = this.#exact.get(text)
    if (known !== undefined) return known
    const number = this.#add(text)
    this.#exact.set(text, number)
    return number
  }

  #add(text: string): number {
    const block = this.#segments.reserve(frameHeadMax + text.length * bytesPerUnit, this.#size)
    if (block === undefined) throw new LostRecord()
    const { bytes } = block
    bytes[block.used] = textFrame
    const at = writeVarint(bytes, block.used + 1, Buffer.byteLength(text))
    block.used = at + bytes.write(text, at)
    return ++this.#size
  }
}

/** Thrown if the buffer of the query log is full. The writer of the segment has counted the record as lost. */
export class LostRecord {}
