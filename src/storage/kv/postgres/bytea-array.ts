// Encodes arrays of byte strings in PostgreSQL's binary format. The driver would send arrays as text, with two
// characters per byte, and both sides would spend more time on the conversion than on storing.

import type { Bytes } from '../contract.ts'

/** The object id of the type `bytea` in the database's catalogue, which is the same everywhere. */
const byteaOid = 17
const headBytes = 20
const lengthBytes = 4

/** A parameter of type `bytea[]`. */
export function byteaArray(items: readonly Bytes[]): Buffer {
  let size = headBytes
  for (const item of items) size += lengthBytes + item.length
  const array = Buffer.allocUnsafe(size)
  // The header: the number of dimensions, a flag for nulls, the type of the elements, their number, and the first index.
  let at = 0
  for (const number of [1, 0, byteaOid, items.length, 1]) at = array.writeInt32BE(number, at)
  for (const item of items) {
    at = array.writeInt32BE(item.length, at)
    array.set(item, at)
    at += item.length
  }
  return array
}
