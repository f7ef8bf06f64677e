// Where the events of an index's entries stand in the order of the events of their set. Those of indexes are not stored: an
// entry says when it came, and one that ended also when it went.

import { ByteWriter } from '../values/byte-writer.ts'
import type { Micros } from '../values/value.ts'
import { entryDocumentPlace, positionBytes } from './key-reader.ts'
import { timeLength } from './key-times.ts'
import { keyTags } from './keyspace.ts'

const writer = new ByteWriter()

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
  const behind = document + positionBytes
  writer.reset().u8(keyTags.indexEvent).append(entry.subarray(1, prefixLength)).ascending(ts)
  writer.u8(action === 'add' ? 1 : 0).append(entry.subarray(document, behind))
  return writer.append(entry.subarray(prefixLength, document)).append(entry.subarray(behind, end)).copy()
}
