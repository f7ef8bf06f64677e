// The position of an index entry's events in the order of the events of its set. Events of indexes are not stored. Each
// entry contains the time at which it was added, and each ended entry also the time at which it was removed.

import { ByteWriter } from '../../values/byte-writer.ts'
import type { Micros } from '../../values/value.ts'
import { entryDocumentPlace, positionBytes } from './key-reader.ts'
import { timeLength } from './key-times.ts'
import { keyTags } from './keyspace.ts'

const writer = new ByteWriter()

/**
 * The key that an event would have according to `indexEventKey`. `entry`: the key of a live or ended entry, whose first
 * `prefixLength` bytes end with the terms.
 */
export function eventPlace(
  entry: Uint8Array,
  prefixLength: number,
  ts: Micros,
  action: 'add' | 'remove',
): Uint8Array {
  const end = entry[0] === keyTags.indexEnded ? entry.length - timeLength : entry.length
  const document = entryDocumentPlace(entry)
  const documentEnd = document + positionBytes
  writer.reset().u8(keyTags.indexEvent).append(entry.subarray(1, prefixLength)).ascending(ts)
  writer.u8(action === 'add' ? 1 : 0).append(entry.subarray(document, documentEnd))
  return writer.append(entry.subarray(prefixLength, document)).append(entry.subarray(documentEnd, end)).copy()
}
