// Measures the size of indexes and collections in the store. The size is not stored, so all rows are read. There may be
// millions of rows, so each call reads only one page.

import { keyAfter } from '../../base/bytes.ts'
import type { Ref } from '../../values/value.ts'
import { collectionHistoryRange, documentRange, indexTableRange } from '../keys/keyspace.ts'
import { intervalsFrom, type KeyInterval } from '../keys/prefix.ts'
import { type Bytes, keyBytesMax } from '../kv/kv-contract.ts'
import type { Snapshot } from './snapshot.ts'
import type { StoredSize } from './store-contract.ts'

/** A cursor is the key of a row. */
export const sizeCursorBytesMax = keyBytesMax

/** A page ends after this many bytes, because rows may be large. */
const pageBytes = 8_388_608

/** `isCounted`: each row of the interval counts as one live entry or document. */
type Part = KeyInterval & { readonly isCounted: boolean }

export function sizeOfIndex(
  snapshot: Snapshot,
  { database, id }: Ref,
  rowsMax: number,
  after?: Bytes,
): StoredSize {
  const parts = (['live', 'ended', 'events'] as const).map(table => ({
    ...indexTableRange(table, database, Number(id)),
    isCounted: table === 'live',
  }))
  return sizeOf(snapshot, parts, rowsMax, after)
}

export function sizeOfCollection(
  snapshot: Snapshot,
  { database, id }: Ref,
  rowsMax: number,
  after?: Bytes,
): StoredSize {
  const parts = [
    { ...documentRange(database, Number(id)), isCounted: true },
    { ...collectionHistoryRange(database, Number(id)), isCounted: false },
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
  for (const { end, isCounted, start } of intervalsFrom(parts, after && keyAfter(after))) {
    for (const { key, value } of view.range({ start, end, limit: rowsMax - rows })) {
      bytes += key.length + value.length
      counters.readBytes += key.length + value.length
      if (isCounted) count++
      if (++rows === rowsMax || bytes >= pageBytes) return { count, bytes, last: key }
    }
  }
  return { count, bytes, last: undefined }
}
