// Imports and exports on an open data directory, for use in the same process or over HTTP.

import type { Ticket } from '../base/admission/ticket.ts'
import type { Timers } from '../base/timers.ts'
import type { Store } from '../storage/store/store.ts'
import type { DatabaseId } from '../values/value.ts'
import type { BatchOptions, BatchResult, BatchTarget, OnCosts } from './batch-writer.ts'
import { readPage } from './export-pages.ts'
import { type ExportPage, type ExportPageRequest, type ExportSnapshot, takeSnapshot } from './read-page.ts'
import type { DocumentRecord } from './record.ts'
import { missingOf, writeBatch } from './write-batch.ts'

const serviceLimits = {
  /** Milliseconds after which a batch of an import ends; own limit. */
  importBatchMs: 20,
} as const

/** `id`: within the collection. */
export interface NamedDocument {
  readonly collection: string
  readonly id: bigint
}

/** The request that causes a transfer. Without it, the transfer cannot be stopped, and its costs are not counted. */
export interface TransferRequest {
  /** Called after each transaction. */
  readonly onCosts?: OnCosts
  /** The ticket of the request, which stops the transfer if its client has disconnected. */
  readonly ticket?: Ticket
}

export interface TransferService {
  write(
    database: DatabaseId,
    records: readonly DocumentRecord[],
    options: BatchOptions,
    context?: TransferRequest,
  ): Promise<BatchResult>
  /** Returns one boolean per document, true if the document is missing. */
  missing(
    database: DatabaseId,
    documents: readonly NamedDocument[],
    context?: TransferRequest,
  ): Promise<readonly boolean[]>
  snapshot(database: DatabaseId): ExportSnapshot
  /** Rejects with `TransferError` if the collection does not exist, or if the history no longer contains the export time. */
  page(database: DatabaseId, request: ExportPageRequest, context?: TransferRequest): Promise<ExportPage>
}

/**
 * `rules`: the rules of the query languages. Callers must check the rights of clients before each call. With `timers`,
 * imports yield to other work in this process.
 */
export function createTransferService(
  store: Store,
  rules: BatchTarget['rules'],
  timers?: Timers,
): TransferService {
  const pace = timers && {
    batchMs: serviceLimits.importBatchMs,
    async waitForBindingPauses(database: DatabaseId) {
      for (let ms = store.bindingPauses.waitMs(database); ms > 0; ms = store.bindingPauses.waitMs(database))
        await new Promise<void>(resolve => timers.after(ms, resolve))
    },
  }
  return {
    write: (database, records, options, context) =>
      writeBatch({ store, rules, pace, ...hooksOf(context) }, database, records, options),
    missing: (database, documents, context) => missingOf(store, database, documents, hooksOf(context)),
    snapshot: database => takeSnapshot(store, database),
    page: (database, request, context) => readPage(store, database, request, hooksOf(context)),
  }
}

function hooksOf({ onCosts, ticket }: TransferRequest = {}): Pick<BatchTarget, 'onCosts' | 'throwIfStopped'> {
  return { onCosts, throwIfStopped: ticket && (() => ticket.throwIfStopped()) }
}
