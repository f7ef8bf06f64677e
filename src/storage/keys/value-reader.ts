// The decoder of the value codec. Every read is checked against the end of the bytes. Damaged data causes an
// InvariantError, but never a read past the end, an endless loop or excessive memory use.

import { Buffer } from 'node:buffer'
import { assert, InvariantError } from '../../base/assert.ts'
import { step } from '../../base/effort.ts'
import { uuidFromHalves } from '../../values/uuid.ts'
import { Lambda, LocalDate, Ref, Time, type Value } from '../../values/value.ts'

/** The first byte of each encoded value (value-codec.ts). Tags are stored, and must never change. */
export const valueTags = {
  null: 0x00,
  false: 0x01,
  true: 0x02,
  int8: 0x03,
  int32: 0x04,
  int64: 0x05,
  double: 0x06,
  /** ASCII text: length, bytes. */
  ascii: 0x07,
  /** Text in UTF-8: length in bytes, bytes. */
  utf8: 0x08,
  /** Text with lone surrogates, which UTF-8 cannot encode: number of UTF-16 code units, big-endian code units. */
  utf16: 0x09,
  bytes: 0x0a,
  time: 0x0b,
  date: 0x0c,
  uuid: 0x0d,
  ref: 0x0e,
  lambda: 0x0f,
  array: 0x10,
  object: 0x11,
  /**
   * Each of these tags is the first of a range of tags that contain a small number: an integer, or a length in bytes or
   * elements.
   */
  smallInt: 0x40,
  smallAscii: 0x80,
  smallObject: 0xc0,
  smallArray: 0xe0,
} as const

/** The number of tags in each range. */
export const smallInts = 64
export const smallAsciiLengths = 64
export const smallSizes = 32

/** The format byte at the start of each stored value. */
export const valueFormat = 1

/** The nesting of damaged or hostile data must not exhaust the stack. */
export const valueDepthMax = 2000

/**
 * Shorter inputs are copied to a buffer with a permanent DataView, which is faster than creating a DataView for each.
 */
const scratchBytes = 65_536
const scratch = Buffer.alloc(scratchBytes)
const scratchView = new DataView(scratch.buffer, scratch.byteOffset, scratchBytes)

/** A power of two. */
const nameSlots = 1024

/** A reader is not reentrant. */
class ValueReader {
  #bytes: Buffer = scratch
  #view: DataView = scratchView
  #offset = 0
  #end = 0
  /**
   * Field names recur in every document. For a cached name, no new string is created, and the hash of the string is
   * already computed when a map needs it.
   */
  readonly #names: (string | undefined)[] = new Array(nameSlots).fill(undefined)

  /** Reads one stored value, which must occupy `bytes` from `start` to `end`. */
  read(bytes: Uint8Array, start: number, end: number): Value {
    assert(bytes[start] === valueFormat, 'a stored value has a known format')
    this.#begin(bytes, start + 1, end)
    const value = this.#value(0)
    assert(this.#offset === end, 'nothing follows a stored value')
    this.#release()
    return value
  }

  readSequence(bytes: Uint8Array, start: number, end: number): Value[] {
    const values: Value[] = []
    this.#begin(bytes, start, end)
    while (this.#offset < end) values.push(this.#value(0))
    this.#release()
    return values
  }

  /**
   * Reads a stored array of arrays of two or three integers. Instead of creating these arrays, calls `take` with the
   * integers. `take` must not use this reader.
   */
  readIntegerRows(
    bytes: Uint8Array,
    take: (first: bigint, second: number, third: bigint | undefined) => void,
  ): void {
    assert(bytes[0] === valueFormat, 'a stored value has a known format')
    this.#begin(bytes, 1, bytes.length)
    const count = this.#count()
    step(count)
    for (let row = 0; row < count; row++) {
      const size = this.#count()
      assert(size === 2 || size === 3, 'a row has two or three integers')
      const first = this.#integer()
      const second = this.#smallInteger()
      take(first, second, size === 3 ? this.#integer() : undefined)
    }
    assert(this.#offset === this.#end, 'nothing follows a stored value')
    this.#release()
  }

  /** Reads the header of an array and returns its length. */
  #count(): number {
    const tag = this.#bytes[this.#take(1)] as number
    if (tag >= valueTags.smallArray) return tag - valueTags.smallArray
    assert(tag === valueTags.array, 'a stored row is an array')
    return this.#size()
  }

  #integer(): bigint {
    if (this.#bytes[this.#offset] === valueTags.int64) return this.#view.getBigInt64(this.#take(9) + 1)
    const value = this.#value(0)
    assert(typeof value === 'bigint', 'a stored row holds integers')
    return value
  }

  #smallInteger(): number {
    const tag = this.#bytes[this.#offset] as number
    if (tag < valueTags.smallInt || tag >= valueTags.smallInt + smallInts) return Number(this.#integer())
    this.#take(1)
    return tag - valueTags.smallInt
  }

  #begin(bytes: Uint8Array, start: number, end: number): void {
    if (bytes.length <= scratchBytes) {
      scratch.set(bytes)
      this.#release()
    } else {
      const { buffer, byteOffset, length } = bytes
      this.#bytes = Buffer.from(buffer, byteOffset, length)
      this.#view = new DataView(buffer, byteOffset, length)
    }
    this.#offset = start
    this.#end = end
  }

  /** Lets the input be garbage-collected. */
  #release(): void {
    this.#bytes = scratch
    this.#view = scratchView
  }

  /** Returns the offset of the first of the next `count` bytes. */
  #take(count: number): number {
    const start = this.#offset
    const end = start + count
    if (end > this.#end) throw new InvariantError('a stored value ends too early')
    this.#offset = end
    return start
  }

  #value(depth: number): Value {
    const tag = this.#bytes[this.#take(1)] as number
    if (tag >= valueTags.smallArray) return this.#array(tag - valueTags.smallArray, depth)
    if (tag >= valueTags.smallObject) return this.#object(tag - valueTags.smallObject, depth)
    if (tag >= valueTags.smallAscii) return this.#ascii(tag - valueTags.smallAscii)
    if (tag >= valueTags.smallInt) return BigInt(tag - valueTags.smallInt)
    return this.#byTag(tag, depth)
  }

  #byTag(tag: number, depth: number): Value {
    switch (tag) {
      case valueTags.null:
        return null
      case valueTags.false:
        return false
      case valueTags.true:
        return true
      case valueTags.int8:
        return BigInt(this.#view.getInt8(this.#take(1)))
      case valueTags.int32:
        return BigInt(this.#view.getInt32(this.#take(4)))
      case valueTags.int64:
        return this.#int64()
      case valueTags.double:
        return this.#double()
      case valueTags.ascii:
      case valueTags.utf8:
      case valueTags.utf16:
        return this.#longText(tag)
      case valueTags.array:
        return this.#array(this.#size(), depth)
      case valueTags.object:
        return this.#object(this.#size(), depth)
      default:
        return this.#scalar(tag, depth)
    }
  }

  #scalar(tag: number, depth: number): Value {
    switch (tag) {
      case valueTags.bytes: {
        const size = this.#size()
        const start = this.#take(size)
        return new Uint8Array(this.#bytes.subarray(start, start + size))
      }
      case valueTags.time: {
        const seconds = this.#int64()
        const nanos = this.#view.getUint32(this.#take(4))
        assert(nanos < 1_000_000_000, 'the nanoseconds of a stored time are below a second')
        return new Time(seconds, nanos)
      }
      case valueTags.date: {
        const epochDay = this.#double()
        assert(Number.isSafeInteger(epochDay), 'a stored date is a whole number of days')
        return new LocalDate(epochDay)
      }
      case valueTags.uuid:
        return uuidFromHalves(this.#uint64(), this.#uint64())
      case valueTags.ref: {
        const database = this.#uint64()
        const collection = this.#view.getUint16(this.#take(2))
        return new Ref(database, collection, this.#int64())
      }
      case valueTags.lambda:
        return this.#lambda(depth)
      default:
        throw new InvariantError('a stored value has an unknown tag')
    }
  }

  #array(count: number, depth: number): Value[] {
    this.#checkNesting(count, depth)
    const array: Value[] = []
    for (let index = 0; index < count; index++) array.push(this.#value(depth + 1))
    return array
  }

  #object(count: number, depth: number): Map<string, Value> {
    this.#checkNesting(count, depth)
    const object = new Map<string, Value>()
    for (let index = 0; index < count; index++) object.set(this.#name(), this.#value(depth + 1))
    assert(object.size === count, 'the fields of a stored object have different names')
    return object
  }

  #lambda(depth: number): Lambda {
    this.#checkNesting(3, depth)
    const apiVersion = this.#name()
    const parameters = this.#value(depth + 1)
    assert(isParameters(parameters), 'the parameters of a stored function are names')
    return new Lambda(apiVersion, parameters, this.#value(depth + 1))
  }

  #checkNesting(count: number, depth: number): void {
    step(count)
    assert(depth < valueDepthMax, 'a stored value does not nest this deeply')
    assert(count <= this.#end - this.#offset, 'a stored array or object has room for its elements')
  }

  /** Throws an InvariantError if the value is not a text. */
  #name(): string {
    const tag = this.#bytes[this.#take(1)] as number
    if (tag >= valueTags.smallAscii && tag < valueTags.smallObject)
      return this.#cachedName(tag - valueTags.smallAscii)
    assert(
      tag === valueTags.ascii || tag === valueTags.utf8 || tag === valueTags.utf16,
      'the name of a stored field is a text',
    )
    return this.#longText(tag)
  }

  #cachedName(length: number): string {
    const start = this.#take(length)
    const bytes = this.#bytes
    let hash = length
    for (let index = start; index < start + length; index++) hash = (hash * 31 + (bytes[index] as number)) | 0
    const slot = (hash ^ (hash >>> 15)) & (nameSlots - 1)
    const known = this.#names[slot]
    if (known !== undefined && known.length === length && this.#matches(known, start)) return known
    const name = bytes.toString('latin1', start, start + length)
    this.#names[slot] = name
    return name
  }

  #matches(text: string, start: number): boolean {
    const bytes = this.#bytes
    for (let index = 0; index < text.length; index++) {
      if (text.charCodeAt(index) !== bytes[start + index]) return false
    }
    return true
  }

  #ascii(length: number): string {
    const start = this.#take(length)
    return this.#bytes.toString('latin1', start, start + length)
  }

  #longText(tag: number): string {
    const size = this.#size()
    if (tag === valueTags.ascii) return this.#ascii(size)
    if (tag === valueTags.utf8) {
      const start = this.#take(size)
      return this.#bytes.toString('utf8', start, start + size)
    }
    const start = this.#take(size * 2)
    let text = ''
    for (let index = 0; index < size; index++) {
      text += String.fromCharCode(this.#view.getUint16(start + index * 2))
    }
    return text
  }

  #double(): number {
    return this.#view.getFloat64(this.#take(8))
  }

  #int64(): bigint {
    return this.#view.getBigInt64(this.#take(8))
  }

  #uint64(): bigint {
    return this.#view.getBigUint64(this.#take(8))
  }

  #size(): number {
    let size = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.#bytes[this.#take(1)] as number
      size += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return size
    }
    throw new InvariantError('a size in a stored value is too long')
  }
}

/** Shared, because all callers then share its cache of field names. */
export const valueReader = new ValueReader()

function isParameters(value: Value): value is string | readonly string[] {
  return typeof value === 'string' || (Array.isArray(value) && value.every(name => typeof name === 'string'))
}
