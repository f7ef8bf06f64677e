// Reads documents from the store for an export, page by page, all at one snapshot time. Each page has a transaction of
// its own, which reads the state at the snapshot time from the history, so no transaction stays open during an export,
// and an export does not delay others.

import { epoch } from '../base/micros.ts'
import { RequestError } from '../base/request-errors.ts'
import type { Store } from '../storage/store/store.ts'
import type { CollectionDefinition, Transaction, Version } from '../storage/store/store-contract.ts'
import { type DatabaseId, type Micros, native, type ObjectValue, Ref } from '../values/value.ts'
import type { OnCosts } from './batch-writer.ts'
import { type DocumentRecord, TransferError } from './record.ts'
import { named, Resolver } from './resolve.ts'

/**
 * Live documents come first, ordered by id. If the history is exported, deleted documents follow, ordered by the time
 * of their deletion.
 */
export type PagePlace =
  | { readonly part: 'live'; readonly after: bigint | undefined }
  | { readonly part: 'ended'; readonly after: Micros; readonly id: bigint }

export interface ExportPageRequest {
  /** Name of a user collection, or export name of a native collection. */
  readonly collection: string
  /** Time of the export. */
  readonly at: Micros
  readonly place: PagePlace
  /** Includes older versions and deleted documents. */
  readonly history: boolean
}

export interface ExportPage {
  readonly records: readonly DocumentRecord[]
  /** Undefined when this is the last page. */
  readonly next: PagePlace | undefined
}

/** Of a collection. */
export const firstPlace: PagePlace = { part: 'live', after: undefined }

/** A page also ends at `pageFieldsMax`. */
const pageRecordsMax = 1000
/** Approximate size of a page, in fields instead of bytes. */
const pageFieldsMax = 100_000

/** Fixed at the start of an export. */
export interface ExportSnapshot {
  readonly at: Micros
  /** User collections. Those with a shorter history come first, because it expires sooner. */
  readonly collections: readonly string[]
}

export function takeSnapshot(store: Store, database: DatabaseId): ExportSnapshot {
  const { result, time } = store.read(transaction => {
    const found: CollectionDefinition[] = []
    for (const { document } of transaction.documents(database, native.collections, {})) {
      const definition = transaction.catalogue.collection(document)
      if (definition !== undefined) found.push(definition)
    }
    return found
  })
  const daysOf = (collection: CollectionDefinition) => collection.historyDays ?? Number.POSITIVE_INFINITY
  const collections = result.sort((left, right) => daysOf(left) - daysOf(right)).map(({ name }) => name)
  return { at: time, collections }
}

/** Throws {@link TransferError} when the history no longer contains the requested time. */
export function readPage(
  store: Store,
  database: DatabaseId,
  request: ExportPageRequest,
  onCosts?: OnCosts,
): ExportPage {
  try {
    const read = (transaction: Transaction) => new PageReader(transaction, database, request).read()
    const { counters, result } = store.read(read)
    onCosts?.(counters)
    return result
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    const { collection } = request
    throw new TransferError(
      `${collection} cannot be read as of the export's time any more: ${error.description}`,
    )
  }
}

class PageReader {
  readonly #transaction: Transaction
  readonly #request: ExportPageRequest
  readonly #collection: Ref
  readonly #records: DocumentRecord[] = []
  #fields = 0

  constructor(transaction: Transaction, database: DatabaseId, request: ExportPageRequest) {
    this.#transaction = transaction
    this.#request = request
    const number = new Resolver(transaction.catalogue, database).container(request.collection)
    if (number === undefined) throw new TransferError(`there is no collection ${request.collection}`)
    this.#collection = new Ref(database, native.collections, BigInt(number))
  }

  read(): ExportPage {
    const { place } = this.#request
    const next = place.part === 'live' ? this.#live(place.after) : this.#ended(place.after, place.id)
    return { records: this.#records, next }
  }

  get #isFull(): boolean {
    return this.#records.length >= pageRecordsMax || this.#fields >= pageFieldsMax
  }

  #live(after: bigint | undefined): PagePlace | undefined {
    const { at, history } = this.#request
    const number = Number(this.#collection.id)
    const from =
      after === undefined
        ? undefined
        : ({ values: [], document: { id: after, collection: number }, side: 'high' } as const)
    const scan = from === undefined ? { at } : { at, from }
    for (const { document } of this.#transaction.documents(this.#collection.database, number, scan)) {
      const version = this.#transaction.get(document, at)
      if (version !== undefined) {
        this.#add(version, false)
        if (history) this.#older(document, version)
      }
      if (this.#isFull) return { part: 'live', after: document.id }
    }
    return history ? { part: 'ended', after: epoch, id: 0n } : undefined
  }

  /** Adds the versions that are older than `present`, the version that is exported as current. */
  #older(document: Ref, present: Version | undefined): void {
    const { at } = this.#request
    for (const version of this.#transaction.versions(document)) {
      if (typeof version.ts !== 'number' || version.ts > at) break
      if (version.ts !== present?.ts) this.#add(version, true)
    }
  }

  /** Adds the versions of deleted documents, in the order of the deletions. Omits documents that were created again. */
  #ended(after: Micros, afterId: bigint): PagePlace | undefined {
    const { at } = this.#request
    const { database, id } = this.#collection
    const collection = Number(id)
    const from = { ts: after, action: 'remove', document: { id: afterId, collection }, side: 'high' } as const
    const to = { ts: at, side: 'high' } as const
    const events = this.#transaction.documentEvents(database, collection, { from, to })
    for (const { action, document, ts } of events) {
      if (action !== 'remove' || typeof ts !== 'number') continue
      if (this.#endOf(document) === ts) this.#older(document, undefined)
      if (this.#isFull) return { part: 'ended', after: ts, id: document.id }
    }
    return undefined
  }

  /** When a document was deleted. Undefined if it was created again before the time of the export. */
  #endOf(document: Ref): Micros | undefined {
    const { at } = this.#request
    for (const { action, ts } of this.#transaction.versions(document, { reverse: true, notAfter: at })) {
      if (typeof ts !== 'number' || ts > at) continue
      return action === 'delete' ? ts : undefined
    }
    return undefined
  }

  #add(version: Version, isHistory: boolean): void {
    const { catalogue } = this.#transaction
    this.#fields += 8 + countFields(version.fields)
    this.#records.push({
      kind: 'document',
      collection: this.#request.collection,
      id: version.ref.id,
      ts: version.ts as Micros,
      isHistory,
      isDelete: version.action === 'delete',
      fields: named(version.fields, catalogue) as ObjectValue,
      size: 0,
    })
  }
}

/** The approximate size of an object. A field, an array element, and 64 characters or bytes of a field each count 1. */
function countFields(fields: ObjectValue): number {
  let count = fields.size
  for (const field of fields.values()) {
    if (field instanceof Map) count += countFields(field)
    else if (Array.isArray(field)) count += field.length
    else if (typeof field === 'string') count += field.length >> 6
    else if (field instanceof Uint8Array) count += field.length >> 6
  }
  return count
}
