// Rebases the writes of an attempt (one evaluation of a transaction) to another commit time, which is at known offsets
// in keys, in the headers of versions and index entries, and in schema versions. If other values also contain the commit
// time, such as the terms of an index over `ts`, the attempt must be evaluated again (`isStamped` of attempt.ts).
//
// If the `ttl` of a document is between the two commit times, the document expires at the new commit time (`expiryTime`
// of expiry-marks.ts), so it gets another expiry mark (a note for the sweeper). The mark for its `ttl` is not removed,
// because a mark does not identify its version. A surplus mark is harmless.

import type { Micros } from '../../values/value.ts'
import { KeyTimes, timeOf } from '../keys/key-times.ts'
import { keyTags } from '../keys/keyspace.ts'
import type { Bytes, Write } from '../kv/kv-contract.ts'
import { withEntryTime } from './entry-records.ts'
import { encodeTimes, timeAt, versionTime, withVersionTime } from './records.ts'

/**
 * `writes` were made for a commit at `from`. No row of an earlier commit contains this time, so each occurrence in
 * `writes` is the commit time.
 */
export function rebased(writes: readonly Write[], from: Micros, to: Micros): Write[] {
  const times = new KeyTimes(from, to)
  const result: Write[] = []
  for (const { key, value } of writes) {
    const tag = key[0] as number
    result.push({ key: times.replace(key), value: value && rebasedValue(tag, value, from, to) })
    if (tag !== keyTags.expiry || value === undefined) continue
    const time = timeOf(key)
    if (time > from && time < to) result.push({ key: new KeyTimes(time, to).replace(key), value })
  }
  return result
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
      return timeAt(value, 0) === from ? Buffer.concat([encodeTimes(to), value.subarray(8)]) : value
    default:
      return value
  }
}
