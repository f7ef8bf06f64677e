// Reads pages of exports for a service.

import { nextTurn } from '../base/slices.ts'
import type { Store } from '../storage/store/store.ts'
import type { DatabaseId } from '../values/value.ts'
import type { OnCosts } from './batch-writer.ts'
import { type ExportPage, type ExportPageRequest, readSlice } from './read-page.ts'

/** The parameters of {@link readPage} that a service sets. `throwIfStopped` throws if the export should stop. */
interface PageOptions {
  readonly onCosts?: OnCosts | undefined
  readonly throwIfStopped?: (() => void) | undefined
}

/**
 * Reads a page of a collection. Only the last page may be empty. Rejects with `TransferError` when the history no longer
 * contains the requested time.
 */
export async function readPage(
  store: Store,
  database: DatabaseId,
  request: ExportPageRequest,
  { onCosts, throwIfStopped }: PageOptions = {},
): Promise<ExportPage> {
  for (let { place } = request; ; ) {
    throwIfStopped?.()
    const page = readSlice(store, database, { ...request, place }, onCosts)
    if (page.records.length > 0 || page.next === undefined) return page
    place = page.next
    await nextTurn()
  }
}
