// Encodes the writes of a batch of transactions, in the order in which the writes are applied. An encoded batch is the
// payload of a record in the commit log of a data directory, and the body of a log row in PostgreSQL.
//
//   version (1 byte), then for each write: key length, key, value length + 1 (0: the key is deleted), value
//
// Lengths are unsigned LEB128. The format is part of the stored data: a change needs a new version.

import { assert } from '../../base/assert.ts'
import type { Bytes, Work, Write } from './kv-contract.ts'

/** The first byte of every batch. */
export const batchVersion = 1

/** Maximum number of bytes of an encoded length. */
const lengthBytesMax = 5

export function writeBytesMax({ key, value }: Write): number {
  return 2 * lengthBytesMax + key.length + (value?.length ?? 0)
}

export function encodeBatch(writes: readonly Write[]): Buffer {
  return encodeAfter(1, writes).fill(batchVersion, 0, 1)
}

/** Encodes a part of a batch, without the version. */
export function encodeWrites(writes: readonly Write[]): Buffer {
  return encodeAfter(0, writes)
}

/** Leaves the first `start` bytes uninitialized. */
function encodeAfter(start: number, writes: readonly Write[]): Buffer {
  let size = start
  for (const write of writes) size += writeBytesMax(write)
  const body = Buffer.allocUnsafe(size)
  let at = start
  for (const write of writes) at = encodeWrite(write, body, at)
  return body.subarray(0, at)
}

/**
 * The offset of the key of a write that is encoded at `start`. The length of the key takes at most two bytes, because
 * keys have at most 1900 bytes.
 */
export function keyStartOf({ key }: Write, start: number): number {
  return start + (key.length < 0x80 ? 1 : 2)
}

/** `target` must have space for {@link writeBytesMax} bytes from `start` on. Returns the end of the encoding. */
export function encodeWrite({ key, value }: Write, target: Bytes, start: number): number {
  let at = writeLength(target, start, key.length)
  target.set(key, at)
  at = writeLength(target, at + key.length, value === undefined ? 0 : value.length + 1)
  if (value === undefined) return at
  target.set(value, at)
  return at + value.length
}

/** The arrays of the writes share the memory of `body`. Throws if a newer version of Terrarium wrote the batch. */
export function decodeBatch(body: Bytes): Write[] {
  return decodeWrites(body, firstWrite(body, 0))
}

/** Decodes a part of a batch from `start` on. The arrays of the writes share the memory of `body`. */
export function decodeWrites(body: Bytes, start = 0): Write[] {
  const writes: Write[] = []
  const reader = new WriteReader(body)
  for (let at = start; at < body.length; at = reader.end) {
    reader.read(at)
    writes.push({ key: reader.key, value: reader.value })
  }
  return writes
}

/**
 * The offset of the first write of the batch that begins at `start`. Throws if a newer version of Terrarium wrote the
 * batch.
 */
export function firstWrite(bytes: Bytes, start: number): number {
  assert(bytes[start] === batchVersion, 'a batch has a format that this version knows')
  return start + 1
}

/** All writes of a transaction. */
export function allWrites({ pieces, writes }: Pick<Work<unknown>, 'writes' | 'pieces'>): readonly Write[] {
  return pieces === undefined ? writes : [...pieces].flatMap(piece => decodeWrites(piece)).concat(writes)
}

/** Reads the writes of a batch one at a time. Creates arrays only in the getters `key` and `value`. */
export class WriteReader {
  keyStart = 0
  keyEnd = 0
  valueStart = 0
  /** The offset of the next write. */
  end = 0
  isDelete = false
  readonly #bytes: Bytes
  #at = 0

  constructor(bytes: Bytes) {
    this.#bytes = bytes
  }

  /** Shares the memory of the batch. */
  get key(): Bytes {
    return this.#bytes.subarray(this.keyStart, this.keyEnd)
  }

  /** Shares the memory of the batch; undefined when the write deletes the key. */
  get value(): Bytes | undefined {
    return this.isDelete ? undefined : this.#bytes.subarray(this.valueStart, this.end)
  }

  read(start: number): void {
    this.#at = start
    const keyBytes = this.#readLength()
    this.keyStart = this.#at
    this.keyEnd = this.#at + keyBytes
    this.readValue(this.keyEnd)
  }

  /** Reads the value of the write whose key ends at `keyEnd`, without changing {@link keyStart} and {@link keyEnd}. */
  readValue(keyEnd: number): void {
    this.#at = keyEnd
    const length = this.#readLength()
    this.isDelete = length === 0
    this.valueStart = this.#at
    this.end = this.isDelete ? this.#at : this.#at + length - 1
    assert(this.end <= this.#bytes.length, 'a batch is complete')
  }

  #readLength(): number {
    let length = 0
    for (let shift = 0; ; shift += 7) {
      const byte = this.#bytes[this.#at++]
      assert(byte !== undefined && shift <= 28, 'a length in a batch is complete')
      length |= (byte & 0x7f) << shift
      if (byte < 0x80) return length
    }
  }
}

/** Returns the end of the encoding. */
function writeLength(target: Bytes, start: number, length: number): number {
  let at = start
  let rest = length
  while (rest >= 0x80) {
    target[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  target[at++] = rest
  return at
}
