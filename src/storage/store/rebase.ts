// Rebases the writes of an attempt to another commit time. In keys, and in the headers of versions and index entries,
// the commit time is at known offsets. If the commit time is also part of other values, such as the terms of an index
// over `ts`, the attempt must be evaluated again instead.
//
// A document whose `ttl` passes between both times expires with its version (`expiryTime` of due-order.ts), so it gets
// a mark for that time. The mark for its `ttl` stays, because the writes do not distinguish it from marks of other
// versions, and a surplus mark is harmless.

import type { Micros } from '../../values/value.ts'
import { KeyTimes, timeOf } from '../keys/key-times.ts'
import { keyTags } from '../keys/keyspace.ts'
import type { Bytes, Write } from '../kv/kv-contract.ts'
import { withEntryTime } from './entry-records.ts'
import { decodeTime, encodeTimes, versionTime, withVersionTime } from './records.ts'

/**
 * The same writes for a commit at the time `to`. They were made for a commit at `from`, a time that no earlier row
 * contains.
 */
export function rebased(writes: readonly Write[], from: Micros, to: Micros): Write[] {
  const times = new KeyTimes(from, to)
  const made: Write[] = []
  for (const { key, value } of writes) {
    const tag = key[0] as number
    made.push({ key: times.replace(key), value: value && rebasedValue(tag, value, from, to) })
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

function rebasedValue(tag: number, value: Bytes, from: Micros, to: Micros): Bytes {
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
