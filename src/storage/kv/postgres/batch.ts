// The body of one row of the log: the writes of a batch of transactions, in the order in which they are applied.
//
//   version (1 byte), then for each write: key length, key, value length + 1 (0: the key is deleted), value
//
// Lengths are unsigned LEB128. The format is part of what is stored in the database: a change needs a new version.

import { assert } from '../../../base/assert.ts'
import type { Bytes, Write } from '../contract.ts'

const formatVersion = 1

/** The longest encoding of a length, in bytes. */
const lengthBytesMax = 5

/** Encodes writes as the body of a log row. */
export function encodeBatch(writes: readonly Write[]): Buffer {
  let size = 1
  for (const { key, value } of writes) size += 2 * lengthBytesMax + key.length + (value?.length ?? 0)
  const body = Buffer.allocUnsafe(size)
  let at = body.writeUInt8(formatVersion)
  for (const { key, value } of writes) {
    at = writeLength(body, at, key.length)
    body.set(key, at)
    at = writeLength(body, at + key.length, value === undefined ? 0 : value.length + 1)
    if (value === undefined) continue
    body.set(value, at)
    at += value.length
  }
  return body.subarray(0, at)
}

/** The writes of a log row's body; they share its memory. Throws when the body was written by a newer version. */
export function decodeBatch(body: Bytes): Write[] {
  assert(body[0] === formatVersion, 'a log row has a format that this version knows')
  const reader = { body, at: 1 }
  const writes: Write[] = []
  while (reader.at < body.length) {
    const key = readBytes(reader, readLength(reader))
    const length = readLength(reader)
    writes.push({ key, value: length === 0 ? undefined : readBytes(reader, length - 1) })
  }
  return writes
}

interface Reader {
  readonly body: Bytes
  at: number
}

/** Returns where the next thing stands. */
function writeLength(body: Buffer, start: number, length: number): number {
  let at = start
  let rest = length
  while (rest >= 0x80) {
    body[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  body[at++] = rest
  return at
}

function readLength(reader: Reader): number {
  let length = 0
  for (let shift = 0; ; shift += 7) {
    const byte = reader.body[reader.at++]
    assert(byte !== undefined && shift <= 28, 'a length in a log row is complete')
    length |= (byte & 0x7f) << shift
    if (byte < 0x80) return length
  }
}

function readBytes(reader: Reader, length: number): Bytes {
  const end = reader.at + length
  assert(end <= reader.body.length, 'a log row is complete')
  const bytes = reader.body.subarray(reader.at, end)
  reader.at = end
  return bytes
}
