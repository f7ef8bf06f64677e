// Measures the size of indexes and collections in the store. The size is not stored, so all rows are read. There may be
// millions of rows, so each call reads only one page.

import { keyAfter } from '../../base/bytes.ts'
import { compareBytes } from '../../values/order.ts'
import type { Ref } from '../../values/value.ts'
import { collectionHistoryRange, documentRange, indexTableRange, type KeyInterval } from '../keys/keyspace.ts'
import { type Bytes, keyBytesMax } from '../kv/kv-contract.ts'
import type { Snapshot } from './snapshot.ts'
import type { StoredSize } from './store-contract.ts'

/** A cursor is the key of a row. */
export const sizeCursorBytesMax = keyBytesMax

/** A page ends after this many bytes, because rows may be large. */
const pageBytes = 8_388_608

/** `isCounted`: each row of the range counts as one live entry or document. */
interface Part {
  readonly range: KeyInterval
  readonly isCounted: boolean
}

/** Measures at most `rowsMax` rows after the key `after`. */
export function sizeOfIndex(
  snapshot: Snapshot,
  { database, id }: Ref,
  rowsMax: number,
  after?: Bytes,
): StoredSize {
  // The parts are in the order of their keys.
  const parts = (['ended', 'live', 'events'] as const).map(table => ({
    range: indexTableRange(table, database, Number(id)),
    isCounted: table === 'live',
  }))
  return sizeOf(snapshot, parts, rowsMax, after)
}

/** Measures documents and past versions: at most `rowsMax` rows after the key `after`. */
export function sizeOfCollection(
  snapshot: Snapshot,
  { database, id }: Ref,
  rowsMax: number,
  after?: Bytes,
): StoredSize {
  // The parts are in the order of their keys.
  const parts = [
    { range: documentRange(database, Number(id)), isCounted: true },
    { range: collectionHistoryRange(database, Number(id)), isCounted: false },
  ]
  return sizeOf(snapshot, parts, rowsMax, after)
}

function sizeOf(
  { counters, view }: Snapshot,
  parts: readonly Part[],
  rowsMax: number,
  after: Bytes | undefined,
): StoredSize {
  let [count, bytes, rows] = [0, 0, 0]
  for (const { isCounted, range } of parts) {
    const { start, end } = range
    const from = after !== undefined && compareBytes(after, start) > 0 ? keyAfter(after) : start
    if (compareBytes(from, end) >= 0) continue
    for (const { key, value } of view.range({ start: from, end, limit: rowsMax - rows })) {
      bytes += key.length + value.length
      counters.readBytes += key.length + value.length
      if (isCounted) count++
      if (++rows === rowsMax || bytes >= pageBytes) return { count, bytes, last: key }
    }
  }
  return { count, bytes, last: undefined }
}
