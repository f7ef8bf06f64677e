// How much of a source precedes a cursor, to estimate the progress of work on all rows of the source.

import { currentSecret } from '../session.ts'
import { type Json, listAt } from '../wire/json.ts'
import { refOf } from '../wire/refs.ts'
import { callApi } from './client.ts'
import type { RowSource } from './row-source.ts'
import { walkCounts } from './row-walk.ts'

/** Estimates the share of the documents before a cursor, from 0 to 1, in the order of their ids. */
export async function shareBefore(
  { collection, isReversed }: RowSource,
  cursor: Json,
  signal: AbortSignal,
): Promise<number | undefined> {
  const id = listAt(cursor)
    .map(refOf)
    .find(ref => ref !== undefined)?.id
  if (id === undefined) return undefined
  const [path, as] = ['/api/v1/collections/_position', currentSecret.value]
  const { share } = await callApi<{ share: number }>('POST', path, as, { collection, id }, signal)
  return isReversed ? 1 - share : share
}

/** Counts the elements of a source exactly, without reading documents. */
export async function countSource(source: RowSource, signal: AbortSignal): Promise<number> {
  let count = 0
  const plan = { source, filter: [], conditions: [], sort: undefined, selectedIndex: undefined }
  for await (const { scanned } of walkCounts(plan, signal)) count += scanned
  return count
}
