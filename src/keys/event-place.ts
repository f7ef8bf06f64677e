// Where the events of an index's entries stand in the order of the events of their set. Those of indexes are not stored: an
// entry says when it came, and one that ended also when it went.

import type { Micros } from '../values/value.ts'
import { entryDocumentPlace, positionBytes } from './key-reader.ts'
import { timeLength } from './key-times.ts'
import { keyTags, timeBytes } from './keyspace.ts'

/**
 * The key that an event would have, as `indexEventKey` makes it; `entry`: the key of a live or ended entry, of which terms and
 * all before them take `prefixLength` bytes.
 */
export function eventPlace(
  entry: Uint8Array,
  prefixLength: number,
  ts: Micros,
  action: 'add' | 'remove',
): Uint8Array {
  const end = entry[0] === keyTags.indexEnded ? entry.length - timeLength : entry.length
  const document = entryDocumentPlace(entry)
  const key = new Uint8Array(end + timeLength + 1)
  key.set(entry.subarray(0, prefixLength))
  key[0] = keyTags.indexEvent
  let at = prefixLength
  key.set(timeBytes(ts, 'ascending'), at)
  at += timeLength
  key[at++] = action === 'add' ? 1 : 0
  key.set(entry.subarray(document, document + positionBytes), at)
  at += positionBytes
  key.set(entry.subarray(prefixLength, document), at)
  at += document - prefixLength
  key.set(entry.subarray(document + positionBytes, end), at)
  return key
}
