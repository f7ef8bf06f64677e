// What an index takes of the store. Nothing keeps these sums, so its rows are read: a bounded number at a time, because an
// index may have millions.

import { indexTableRange } from '../keys/keyspace.ts'
import { type Bytes, keyBytesMax } from '../kv/contract.ts'
import { compareBytes } from '../values/order.ts'
import type { Ref } from '../values/value.ts'
import type { IndexSize } from './contract.ts'
import type { Snapshot } from './snapshot.ts'

/** Bytes of the longest cursor, which is a key of the index. */
export const indexCursorBytesMax = keyBytesMax

/** In the order of their keys. */
const tables = ['ended', 'live', 'events'] as const

/** The sizes of at most `rowsMax` rows of an index, from those behind the key `after` on. */
export function sizeOfIndex(
  { counters, view }: Snapshot,
  { database, id }: Ref,
  rowsMax: number,
  after?: Bytes,
): IndexSize {
  let [entries, bytes, rows] = [0, 0, 0]
  for (const table of tables) {
    const { start, end } = indexTableRange(table, database, Number(id))
    const from = after !== undefined && compareBytes(after, start) > 0 ? behind(after) : start
    if (compareBytes(from, end) >= 0) continue
    for (const { key, value } of view.range({ start: from, end, limit: rowsMax - rows })) {
      bytes += key.length + value.length
      counters.readBytes += key.length + value.length
      if (table === 'live') entries++
      if (++rows === rowsMax) return { entries, bytes, last: key }
    }
  }
  return { entries, bytes, last: undefined }
}

/** The smallest key behind another. */
function behind(key: Bytes): Bytes {
  const next = new Uint8Array(key.length + 1)
  next.set(key)
  return next
}
