// A growing byte buffer for encoding keys and stored values, reused so that an encoding allocates only its result.

import { assert } from '../base/assert.ts'
import { copyOf } from '../base/bytes.ts'

const initialBytes = 4096

/** `reset` releases longer buffers, so that one huge document does not occupy memory forever. */
const keptBytes = 1 << 20
const two32 = 0x1_0000_0000

/** Appends big-endian numbers and bytes. A writer must not be used for two encodings at the same time. */
export class ByteWriter {
  bytes: Uint8Array = new Uint8Array(initialBytes)
  view: DataView = new DataView(this.bytes.buffer)
  length = 0

  reset(): this {
    this.length = 0
    if (this.bytes.length > keptBytes) this.#allocate(initialBytes)
    return this
  }

  /** The caller may then write `count` bytes to `bytes` directly. */
  reserve(count: number): void {
    const needed = this.length + count
    if (needed <= this.bytes.length) return
    const old = this.bytes
    this.#allocate(Math.max(needed, old.length * 2))
    this.bytes.set(old.subarray(0, this.length))
  }

  u8(byte: number): this {
    if (this.length === this.bytes.length) this.reserve(1)
    this.bytes[this.length++] = byte
    return this
  }

  u16(value: number): this {
    this.reserve(2)
    this.view.setUint16(this.length, value)
    this.length += 2
    return this
  }

  u32(value: number): this {
    this.reserve(4)
    this.view.setUint32(this.length, value)
    this.length += 4
    return this
  }

  /** Negative numbers are in two's complement. */
  u64(value: bigint): this {
    this.reserve(8)
    this.view.setBigUint64(this.length, value)
    this.length += 8
    return this
  }

  f64(value: number): this {
    this.reserve(8)
    this.view.setFloat64(this.length, value)
    this.length += 8
    return this
  }

  /** A safe integer in 8 bytes with an inverted sign bit, so that byte order equals numeric order. */
  ascending(integer: number): this {
    assert(Number.isSafeInteger(integer), 'a number in a key is a safe integer')
    const high = Math.floor(integer / two32)
    return this.u32((high ^ 0x8000_0000) >>> 0).u32(integer - high * two32)
  }

  /** Like {@link ascending}, but the greatest number sorts first. */
  descending(integer: number): this {
    this.ascending(integer).complementFrom(this.length - 8)
    return this
  }

  append(bytes: Uint8Array): this {
    this.reserve(bytes.length)
    this.bytes.set(bytes, this.length)
    this.length += bytes.length
    return this
  }

  /** A lone surrogate becomes the three bytes of its code point ("WTF-8"). */
  utf8(text: string): this {
    this.reserve(text.length * 3)
    const bytes = this.bytes
    let length = this.length
    for (let index = 0; index < text.length; index++) {
      const unit = text.charCodeAt(index)
      if (unit < 0x80) {
        bytes[length++] = unit
        continue
      }
      const point = unit >= 0xd800 && unit < 0xdc00 ? (text.codePointAt(index) as number) : unit
      if (point < 0x800) {
        bytes[length++] = 0xc0 | (point >> 6)
      } else {
        if (point < 0x10000) {
          bytes[length++] = 0xe0 | (point >> 12)
        } else {
          index++
          bytes[length++] = 0xf0 | (point >> 18)
          bytes[length++] = 0x80 | ((point >> 12) & 0x3f)
        }
        bytes[length++] = 0x80 | ((point >> 6) & 0x3f)
      }
      bytes[length++] = 0x80 | (point & 0x3f)
    }
    this.length = length
    return this
  }

  /** Inverts all bits of the bytes from `start` on, which reverses the order of the encoded values. */
  complementFrom(start: number): void {
    const bytes = this.bytes
    for (let index = start; index < this.length; index++) bytes[index] = ~(bytes[index] as number)
  }

  /** The caller owns the copy. */
  copy(): Uint8Array {
    return copyOf(this.bytes, 0, this.length)
  }

  #allocate(size: number): void {
    this.bytes = new Uint8Array(size)
    this.view = new DataView(this.bytes.buffer)
  }
}
