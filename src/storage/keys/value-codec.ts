// Encodes values compactly for storage. An encoding begins with a format byte. Each value begins with a tag, and sizes
// precede contents. The format is designed for fast decoding, because every read of a document decodes a value.
//
// The tag of a small integer contains the integer. The tag of a short ASCII text, a small object or a small array
// contains its size (value-reader.ts). Other numbers are big-endian, and other sizes are LEB128. Decoding a damaged
// encoding fails with an InvariantError.

import { Buffer } from 'node:buffer'
import { assert } from '../../base/assert.ts'
import { step } from '../../base/effort.ts'
import { ByteWriter } from '../../values/byte-writer.ts'
import { orderForm, sortedFields } from '../../values/order.ts'
import { appendUuidBytes } from '../../values/uuid.ts'
import {
  type Micros,
  type ObjectValue,
  type TaggedValue,
  Time,
  TransactionTime,
  Transient,
  type Value,
} from '../../values/value.ts'
import {
  smallAsciiLengths,
  smallInts,
  smallSizes,
  valueTags as tags,
  valueDepthMax,
  valueFormat,
  valueReader,
} from './value-reader.ts'

const writer = new ByteWriter()

/** The time of the running transaction. A function is called only when the time is needed. */
export type TransactionTimeSource = Micros | (() => Micros)

/**
 * Encodes transient values (sets, documents …) in their stored form. `transactionTime` replaces placeholders for the
 * time of the running transaction, which cannot be stored.
 */
export function encodeValue(value: Value, transactionTime?: TransactionTimeSource): Uint8Array {
  appendEncoded(writer.reset(), value, transactionTime)
  return writer.copy()
}

/** Appends the result of {@link encodeValue}. */
export function appendEncoded(
  target: ByteWriter,
  value: Value,
  transactionTime?: TransactionTimeSource,
): void {
  target.u8(valueFormat)
  appendValue({ writer: target, transactionTime, canonical: false }, value, 0)
}

export function decodeValue(bytes: Uint8Array, start = 0, end = bytes.length): Value {
  return valueReader.read(bytes, start, end)
}

/**
 * Appends an encoding without a format byte. Sorts object fields by name, so that equal values have equal bytes.
 * `transactionTime` replaces placeholders.
 */
export function appendCanonical(
  target: ByteWriter,
  value: Value,
  transactionTime?: TransactionTimeSource,
): void {
  appendValue({ writer: target, transactionTime, canonical: true }, value, 0)
}

/** Replaces each placeholder; returns `value` itself if there is none. */
export function withTransactionTime(value: Value, transactionTime: TransactionTimeSource): Value {
  if (value instanceof TransactionTime) return resolveTime(value, transactionTime)
  if (Array.isArray(value)) {
    const elements: readonly Value[] = value.map(element => withTransactionTime(element, transactionTime))
    return elements.some((element, index) => element !== value[index]) ? elements : value
  }
  if (value instanceof Map) {
    const fields = new Map<string, Value>()
    let changed = false
    for (const [name, field] of value) {
      step()
      const resolved = withTransactionTime(field, transactionTime)
      if (resolved !== field) changed = true
      fields.set(name, resolved)
    }
    return changed ? fields : value
  }
  return value
}

interface Encoding {
  readonly writer: ByteWriter
  readonly transactionTime: TransactionTimeSource | undefined
  readonly canonical: boolean
}

function appendValue(encoding: Encoding, value: Value, depth: number): void {
  step()
  const { writer } = encoding
  switch (typeof value) {
    case 'string':
      appendText(writer, value)
      return
    case 'bigint':
      appendInteger(writer, value)
      return
    case 'number':
      writer.u8(tags.double).f64(Number.isNaN(value) ? Number.NaN : value)
      return
    case 'boolean':
      writer.u8(value ? tags.true : tags.false)
      return
  }
  if (value === null) {
    writer.u8(tags.null)
    return
  }
  assert(depth < valueDepthMax, 'a stored value does not nest this deeply')
  if (value instanceof Map) appendObject(encoding, value, depth + 1)
  else if (Array.isArray(value)) appendArray(encoding, value, depth + 1)
  else if (value instanceof Uint8Array) {
    writer.u8(tags.bytes)
    appendSize(writer, value.length)
    writer.append(value)
  } else if (value instanceof Transient) appendValue(encoding, orderForm(value), depth + 1)
  else appendTagged(encoding, value as TaggedValue, depth + 1)
}

function appendTagged(encoding: Encoding, value: TaggedValue, depth: number): void {
  const { writer } = encoding
  switch (value.kind) {
    case 'time':
      writer.u8(tags.time).u64(value.seconds).u32(value.nanos)
      return
    case 'date':
      writer.u8(tags.date).f64(value.epochDay)
      return
    case 'uuid':
      writer.u8(tags.uuid)
      appendUuidBytes(writer, value)
      return
    case 'ref':
      writer.u8(tags.ref).u64(value.database).u16(value.collection).u64(value.id)
      return
    case 'lambda':
      writer.u8(tags.lambda)
      appendText(writer, value.apiVersion)
      appendValue(encoding, value.parameters, depth)
      appendValue(encoding, value.body, depth)
      return
    case 'transaction time':
      assert(encoding.transactionTime !== undefined, 'the time of the transaction is known when it is stored')
      appendValue(encoding, resolveTime(value, encoding.transactionTime), depth)
      return
    default:
      appendValue(encoding, orderForm(value), depth)
  }
}

function appendObject(encoding: Encoding, object: ObjectValue, depth: number): void {
  const { writer } = encoding
  if (object.size < smallSizes) writer.u8(tags.smallObject + object.size)
  else {
    writer.u8(tags.object)
    appendSize(writer, object.size)
  }
  for (const [name, field] of encoding.canonical ? sortedFields(object) : object) {
    appendText(writer, name)
    appendValue(encoding, field, depth)
  }
}

function appendArray(encoding: Encoding, array: readonly Value[], depth: number): void {
  const { writer } = encoding
  if (array.length < smallSizes) writer.u8(tags.smallArray + array.length)
  else {
    writer.u8(tags.array)
    appendSize(writer, array.length)
  }
  for (const element of array) appendValue(encoding, element, depth)
}

function appendInteger(writer: ByteWriter, value: bigint): void {
  const number = Number(value)
  if (number >= 0 && number < smallInts) {
    writer.u8(tags.smallInt + number)
  } else if (number === (number << 24) >> 24) {
    writer.u8(tags.int8).u8(number & 0xff)
  } else if (number === (number | 0)) {
    writer.u8(tags.int32).u32(number >>> 0)
  } else {
    writer.u8(tags.int64).u64(value)
  }
}

function appendText(writer: ByteWriter, text: string): void {
  const length = text.length
  const start = writer.length
  if (length < smallAsciiLengths) {
    writer.reserve(length + 1)
    const bytes = writer.bytes
    bytes[start] = tags.smallAscii + length
    let index = 0
    for (; index < length; index++) {
      const unit = text.charCodeAt(index)
      if (unit >= 0x80) break
      bytes[start + 1 + index] = unit
    }
    if (index === length) {
      writer.length = start + 1 + length
      return
    }
  }
  appendLongText(writer, text)
}

function appendLongText(writer: ByteWriter, text: string): void {
  step(text.length >> 4)
  if (!text.isWellFormed()) {
    writer.u8(tags.utf16)
    appendSize(writer, text.length)
    for (let index = 0; index < text.length; index++) writer.u16(text.charCodeAt(index))
    return
  }
  const size = Buffer.byteLength(text)
  writer.u8(size === text.length ? tags.ascii : tags.utf8)
  appendSize(writer, size)
  writer.reserve(size)
  Buffer.from(writer.bytes.buffer, writer.length, size).write(text)
  writer.length += size
}

function appendSize(writer: ByteWriter, size: number): void {
  let rest = size
  while (rest >= 0x80) {
    writer.u8((rest & 0x7f) | 0x80)
    rest >>>= 7
  }
  writer.u8(rest)
}

function resolveTime(placeholder: TransactionTime, source: TransactionTimeSource): bigint | Time {
  const micros = typeof source === 'number' ? source : source()
  if (placeholder.unit === 'micros') return BigInt(micros)
  const seconds = Math.floor(micros / 1_000_000)
  return new Time(BigInt(seconds), (micros - seconds * 1_000_000) * 1000)
}
