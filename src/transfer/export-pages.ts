// Reads pages of exports for a service.

import { nextTurn } from '../base/slices.ts'
import type { Store } from '../storage/store/store.ts'
import type { DatabaseId } from '../values/value.ts'
import type { BatchTarget } from './batch-writer.ts'
import { type ExportPage, type ExportPageRequest, readSlice } from './read-page.ts'

/**
 * Reads a page of a collection. Only the last page may be empty. Rejects with `TransferError` when the history no longer
 * contains the requested time.
 */
export async function readPage(
  store: Store,
  database: DatabaseId,
  request: ExportPageRequest,
  { onCosts, throwIfStopped }: Pick<BatchTarget, 'onCosts' | 'throwIfStopped'> = {},
): Promise<ExportPage> {
  for (let { place } = request; ; ) {
    throwIfStopped?.()
    const page = readSlice(store, database, { ...request, place }, onCosts)
    if (page.records.length > 0 || page.next === undefined) return page
    place = page.next
    await nextTurn()
  }
}
