// Encodes values as bytes in the order of the values: a bytewise comparison of two encodings gives the same result as
// `compareValues`. No encoding is a prefix of another encoding, so encodings can be concatenated in a key.
// Complementing all bytes of an encoding reverses its order exactly. Each encoding begins with a rank: a byte that
// determines the order of different types.
//
//   number       rank, 8 bytes of the double (sign bit inverted; all bits inverted for negative numbers). From
//                2^53 on, the double may be rounded, so 2 bytes follow: the long - the double + 0x8000
//   bytes        rank, bytes (each 00 is written as 00 FF), 00 01
//   string       rank, collation sort key, text in UTF-8 escaped like bytes, 00 01
//   array        rank, elements, 00
//   object       rank, name and value of each field (sorted by name), 00
//   ref          rank, id (8), collection (2)
//   time         rank, seconds with inverted sign bit (8), nanoseconds (4)
//   date         rank, days with inverted sign bit (8)
//   lambda       rank, API version, parameters, body
//   tx time      rank, 0 for microseconds or 1 for a time
//   uuid         rank, its 16 bytes
//   false, true, null   rank
//
// Values that are equal in the order, such as 1 and 1.0, have equal bytes. Keys distinguish such values by a tie-break
// after the document (tuple.ts). So index entries with such values are ordered by document, as the query language
// requires.

import { step } from '../../base/effort.ts'
import type { ByteWriter } from '../../values/byte-writer.ts'
import { appendSortKey } from '../../values/collation.ts'
import { partsOf } from '../../values/equality.ts'
import { orderForm, orderRank, rankOf, sortedFields } from '../../values/order.ts'
import { appendUuidBytes } from '../../values/uuid.ts'
import type {
  Lambda,
  LocalDate,
  ObjectValue,
  Ref,
  Time,
  TransactionTime,
  Uuid,
  Value,
} from '../../values/value.ts'

/** The tie-break of tuples without a double that compares equal to a long: of nearly all tuples. */
export const noTie = Uint8Array.of(0)

/**
 * One bit for each number of a tuple, least significant bit first: set if the number is a double that compares equal to
 * a long.
 */
export class NumberKinds {
  #count = 0
  #bits: number[] | undefined

  add(isDouble: boolean): void {
    const index = this.#count++
    if (!isDouble) return
    this.#bits ??= []
    const byte = index >> 3
    while (this.#bits.length <= byte) this.#bits.push(0)
    this.#bits[byte] = (this.#bits[byte] as number) | (1 << (index & 7))
  }

  /** Returns the bits as bytes without trailing zero bytes. A last byte is added: the number of the other bytes. */
  bytes(): Uint8Array {
    return this.#bits ? Uint8Array.of(...this.#bits, this.#bits.length) : noTie
  }
}

/** `descending` reverses the order of encodings. */
export function appendOrdered(
  writer: ByteWriter,
  value: Value,
  descending: boolean,
  kinds?: NumberKinds,
): void {
  const start = writer.length
  appendAscending(writer, value, kinds)
  if (descending) writer.complementFrom(start)
}

const terminator = 0x00

function appendAscending(writer: ByteWriter, value: Value, kinds: NumberKinds | undefined): void {
  step()
  const form = orderForm(value)
  const rank = rankOf(form)
  writer.u8(rank)
  switch (rank) {
    case orderRank.number:
      appendNumber(writer, form as number | bigint, kinds)
      return
    case orderRank.bytes:
      appendEscaped(writer, form as Uint8Array)
      return
    case orderRank.string:
      appendString(writer, form as string)
      return
    case orderRank.array:
      for (const element of form as readonly Value[]) appendAscending(writer, element, kinds)
      writer.u8(terminator)
      return
    case orderRank.object:
      for (const [name, field] of sortedFields(form as ObjectValue)) {
        appendAscending(writer, name, kinds)
        appendAscending(writer, field, kinds)
      }
      writer.u8(terminator)
      return
    case orderRank.ref:
      writer.u64((form as Ref).id).u16((form as Ref).collection)
      return
    case orderRank.time:
      writer.u64((form as Time).seconds ^ signBit).u32((form as Time).nanos)
      return
    case orderRank.date:
      writer.u64(BigInt((form as LocalDate).epochDay) ^ signBit)
      return
    case orderRank.lambda:
      for (const part of partsOf(form as Lambda)) appendAscending(writer, part, kinds)
      return
    case orderRank.transactionTime:
      writer.u8((form as TransactionTime).unit === 'micros' ? 0 : 1)
      return
    case orderRank.uuid:
      appendUuidBytes(writer, form as Uuid)
      return
  }
}

const signBit = 1n << 63n

/** From this number on, some longs (64-bit integers) cannot be represented exactly as a double. */
const exactMax = 2 ** 53
const longMax = 2 ** 63
const residualBias = 0x8000

function appendNumber(writer: ByteWriter, value: number | bigint, kinds: NumberKinds | undefined): void {
  // All NaNs get the same bytes: a NaN may have any of many bit patterns.
  const double = typeof value === 'bigint' ? Number(value) : Number.isNaN(value) ? Number.NaN : value
  const start = writer.length
  writer.f64(double)
  const bytes = writer.bytes
  if ((bytes[start] as number) & 0x80 && !Number.isNaN(double)) writer.complementFrom(start)
  else bytes[start] = (bytes[start] as number) | 0x80
  const magnitude = Math.abs(double)
  if (magnitude >= exactMax && magnitude <= longMax) {
    writer.u16(residualBias + (typeof value === 'bigint' ? Number(value - BigInt(double)) : 0))
  }
  kinds?.add(typeof value === 'number' && equalsALong(value))
}

function equalsALong(double: number): boolean {
  return Number.isInteger(double) && double >= -longMax && double < longMax && !Object.is(double, -0)
}

/**
 * Appends FF after each zero byte, and 00 01 at the end, so `bytes` sorts before all longer byte strings that begin
 * with `bytes`.
 */
function appendEscaped(writer: ByteWriter, bytes: Uint8Array): void {
  step(bytes.length >> 3)
  for (const byte of bytes) {
    writer.u8(byte)
    if (byte === 0) writer.u8(0xff)
  }
  appendEnd(writer)
}

function appendString(writer: ByteWriter, text: string): void {
  appendSortKey(writer, text)
  let start = 0
  for (let zero = text.indexOf('\0'); zero >= 0; zero = text.indexOf('\0', start)) {
    writer.utf8(text.slice(start, zero + 1)).u8(0xff)
    start = zero + 1
  }
  writer.utf8(start === 0 ? text : text.slice(start))
  appendEnd(writer)
}

function appendEnd(writer: ByteWriter): void {
  writer.u8(0x00).u8(0x01)
}
