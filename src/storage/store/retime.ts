// Gives what an attempt wants to write another time. Wherever the time of a transaction stands by itself (in keys, as
// the time of a version or of an index entry) its place is known; an attempt in which it went into other values as
// well, such as the terms of an index over `ts`, has to be evaluated again instead.
//
// A document whose `ttl` passes between both times expires with its version (`expiryTime` of due-order.ts), so it gets a
// mark there. The mark that was made for its `ttl` stays: the writes do not tell it from marks of other versions, and a
// mark too many is harmless.

import type { Micros } from '../../values/value.ts'
import { KeyTimes, timeOf } from '../keys/key-times.ts'
import { keyTags } from '../keys/keyspace.ts'
import type { Bytes, Write } from '../kv/contract.ts'
import { withEntryTime } from './entry-records.ts'
import { decodeTime, encodeTimes, versionTime, withVersionTime } from './records.ts'

/** The same writes as of the time `to`. They were made for the time `from`, which no stored row had before. */
export function retimed(writes: readonly Write[], from: Micros, to: Micros): Write[] {
  const times = new KeyTimes(from, to)
  const made: Write[] = []
  for (const { key, value } of writes) {
    const tag = key[0] as number
    made.push({ key: times.replace(key), value: value && retimedValue(tag, value, from, to) })
    if (tag === keyTags.due && value !== undefined && isBetween(timeOf(key), from, to))
      made.push({ key: withTime(key, to), value })
  }
  return made
}

function isBetween(time: Micros, from: Micros, to: Micros): boolean {
  return time > from && time < to
}

function withTime(key: Bytes, to: Micros): Bytes {
  return new KeyTimes(timeOf(key), to).replace(key)
}

function retimedValue(tag: number, value: Bytes, from: Micros, to: Micros): Bytes {
  switch (tag) {
    case keyTags.document:
    case keyTags.history:
      return versionTime(value) === from ? withVersionTime(value, to) : value
    case keyTags.indexLive:
    case keyTags.indexEnded:
    case keyTags.indexEvent:
      return withEntryTime(tag, value, from, to)
    case keyTags.schemaVersion:
      return decodeTime(value) === from ? encodeTimes(to) : value
    default:
      return value
  }
}
