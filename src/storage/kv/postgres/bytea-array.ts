// Arrays of bytes as PostgreSQL receives them in its binary format. As text, which is what the driver makes of arrays, each
// byte is two characters, and both sides spend longer on that than on storing.

import type { Bytes } from '../contract.ts'

/** The type `bytea` in the database's catalogue: the same number everywhere. */
const byteaOid = 17
const headBytes = 20
const lengthBytes = 4

/** A parameter of type `bytea[]`. */
export function byteaArray(items: readonly Bytes[]): Buffer {
  let size = headBytes
  for (const item of items) size += lengthBytes + item.length
  const array = Buffer.allocUnsafe(size)
  // One dimension, no nulls, the type of the elements, how many, and the number of the first.
  let at = 0
  for (const number of [1, 0, byteaOid, items.length, 1]) at = array.writeInt32BE(number, at)
  for (const item of items) {
    at = array.writeInt32BE(item.length, at)
    array.set(item, at)
    at += item.length
  }
  return array
}
