// The values of document rows have a short binary header, which scans can read without decoding the fields:
//
//    document or history   flags, ts (8), [ttl (8)], [shape time (8)], fields, checksum (4)
//
// The fields have the collection's shape (the structure of fields) at the shape time, by default at `ts`. The `ttl` is
// rounded up to the microsecond. Snapshot times are whole microseconds, so the rounding does not change a comparison
// with a snapshot time. `entry-records.ts` encodes the records of index entries.

import { crc32 } from 'node:zlib'
import { assert } from '../../base/assert.ts'
import { endOfTime, micros, nearestMicros } from '../../base/micros.ts'
import { ByteWriter } from '../../values/byte-writer.ts'
import { isObject, type Micros, type ObjectValue, type Ref, Time } from '../../values/value.ts'
import { int32At } from '../keys/key-times.ts'
import { metaKey } from '../keys/keyspace.ts'
import { appendEncoded, decodeValue, type TransactionTimeSource } from '../keys/value-codec.ts'
import type { Bytes } from '../kv/kv-contract.ts'
import type { Version } from './store-contract.ts'

const two32 = 0x1_0000_0000

/** The checksum at the end of a row: CRC-32, by which the integrity check detects corruption on disk. */
export const checksumBytes = 4

/** Takes 8 bytes. */
export function appendTime(writer: ByteWriter, time: Micros): void {
  const high = Math.floor(time / two32)
  writer.u32(high >>> 0)
  writer.u32(time - high * two32)
}

export function timeAt(bytes: Bytes, at: number): Micros {
  return micros(int32At(bytes, at) * two32 + (int32At(bytes, at + 4) >>> 0))
}

/** The `ttl` of a document that never expires. */
export const never: Micros = endOfTime

const actions = ['create', 'update', 'delete'] as const
const actionMask = 0x03
const ttlFlag = 0x04
const shapeFlag = 0x08

const writer = new ByteWriter()

export function encodeTimes(...times: readonly Micros[]): Bytes {
  appendTimes(times)
  return writer.copy()
}

export function decodeTime(bytes: Bytes): Micros {
  assert(bytes.length === 8, 'a stored time has 8 bytes')
  return timeAt(bytes, 0)
}

/** Like {@link encodeTimes}, but also appends a checksum, which {@link isIntact} verifies. */
export function sealedTimes(...times: readonly Micros[]): Bytes {
  appendTimes(times)
  return sealed()
}

function appendTimes(times: readonly Micros[]): void {
  writer.reset()
  for (const time of times) appendTime(writer, time)
}

/** {@link never} if there is no `ttl`. */
export function ttlOf(fields: ObjectValue): Micros {
  const ttl = fields.get('ttl')
  if (!(ttl instanceof Time)) return never
  return nearestMicros(Number(ttl.seconds) * 1e6 + Math.ceil(ttl.nanos / 1000))
}

/** `commitTime` replaces the placeholders for the transaction's time in the fields. */
export function encodeVersion(
  version: Omit<Version, 'ts' | 'ref'>,
  ts: Micros,
  commitTime?: TransactionTimeSource,
): Bytes {
  const ttl = ttlOf(version.fields)
  const { action, shapeTime } = version
  const isReshaped = shapeTime !== undefined && shapeTime > ts && action !== 'delete'
  const flags = (ttl === never ? 0 : ttlFlag) | (isReshaped ? shapeFlag : 0)
  writer.reset().u8(actions.indexOf(action) | flags)
  appendTime(writer, ts)
  if (ttl !== never) appendTime(writer, ttl)
  if (isReshaped) appendTime(writer, shapeTime)
  appendEncoded(writer, version.fields, commitTime)
  return sealed()
}

/** Appends the checksum to `writer`. */
function sealed(): Bytes {
  writer.u32(crc32(writer.bytes.subarray(0, writer.length)))
  return writer.copy()
}

/** Reads of documents do not verify checksums. */
export function isIntact(bytes: Bytes): boolean {
  const end = bytes.length - checksumBytes
  if (end <= 0) return false
  return new DataView(bytes.buffer, bytes.byteOffset + end).getUint32(0) === crc32(bytes.subarray(0, end))
}

const noFields: ObjectValue = new Map()

/** Does not migrate the fields to the present shape. */
export function decodeVersion(ref: Ref, bytes: Bytes): Version & { readonly ts: Micros } {
  const action = versionAction(bytes)
  const ts = timeAt(bytes, 1)
  if (action === 'delete') return { ref, ts, action, fields: noFields }
  const flags = bytes[0] as number
  const shapeAt = flags & ttlFlag ? 17 : 9
  const start = flags & shapeFlag ? shapeAt + 8 : shapeAt
  const fields = decodeValue(bytes, start, bytes.length - checksumBytes)
  assert(isObject(fields), 'the fields of a version are an object')
  if (start === shapeAt) return { ref, ts, action, fields }
  return { ref, ts, action, fields, shapeTime: timeAt(bytes, shapeAt) }
}

/** Does not decode the fields. */
export function versionShapeTime(bytes: Bytes): Micros {
  const flags = bytes[0] as number
  return timeAt(bytes, flags & shapeFlag ? (flags & ttlFlag ? 17 : 9) : 1)
}

/** Two different versions almost never have the same checksum. */
export function versionMark(bytes: Bytes): number {
  return int32At(bytes, bytes.length - checksumBytes)
}

/** Does not decode the fields. */
export function versionAction(bytes: Bytes): Version['action'] {
  const action = actions[(bytes[0] as number) & actionMask]
  assert(action !== undefined, 'a stored version has a known action')
  return action
}

/** Does not decode the fields. */
export function versionTime(bytes: Bytes): Micros {
  return timeAt(bytes, 1)
}

/** Does not decode the fields; {@link never} if the version does not expire. */
export function versionTtl(bytes: Bytes): Micros {
  return (bytes[0] as number) & ttlFlag ? timeAt(bytes, 9) : never
}

export function withVersionTime(bytes: Bytes, time: Micros): Bytes {
  writer.reset().append(bytes.subarray(0, bytes.length - checksumBytes))
  const { length } = writer
  writer.length = 1
  appendTime(writer, time)
  writer.length = length
  return sealed()
}

export function withAction(bytes: Bytes, action: Version['action']): Bytes {
  writer.reset().append(bytes.subarray(0, bytes.length - checksumBytes))
  writer.bytes[0] = ((bytes[0] as number) & ~actionMask) | actions.indexOf(action)
  return sealed()
}

/**
 * The store's secret. If it is missing, the store generates another secret, and rejects cursors and other data that was
 * authenticated with the earlier one.
 */
export const secretKeyRow: Uint8Array = metaKey('secret key')
