// Reads documents from the store for an export, page by page, all at one snapshot time. Each page has one or more
// transactions of its own, which read the state at the snapshot time from the history, so no transaction stays open
// during an export. Neither a long history nor many deleted documents make a transaction long, so an export does not
// delay other requests.

import { epoch, micros } from '../base/micros.ts'
import { RequestError } from '../base/request-errors.ts'
import type { Store } from '../storage/store/store.ts'
import type { CollectionDefinition, Transaction, Version } from '../storage/store/store-contract.ts'
import { type DatabaseId, int64Max, type Micros, native, type ObjectValue, Ref } from '../values/value.ts'
import type { OnCosts } from './batch-writer.ts'
import { type DocumentRecord, TransferError } from './record.ts'
import { Resolver, withNames } from './resolve.ts'

/** A place after a live document. `id`: undefined before the first document. */
interface LivePlace<Id extends bigint | undefined = bigint | undefined> {
  readonly part: 'live'
  readonly after: Id
}

/** A place after a document that was deleted at the time `after`. */
interface EndedPlace {
  readonly part: 'ended'
  readonly after: Micros
  readonly id: bigint
}

/** A place within the older versions of a document, after the time `after`. `of`: the place of the document. */
export interface VersionsPlace {
  readonly part: 'versions'
  readonly after: Micros
  readonly of: LivePlace<bigint> | EndedPlace
}

/**
 * Live documents come first, ordered by id. If the history is exported, deleted documents follow, ordered by the time
 * of their deletion. The older versions of a document follow the document.
 */
export type PagePlace = LivePlace | EndedPlace | VersionsPlace

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

/** Start of a collection. */
export const firstPlace: PagePlace = { part: 'live', after: undefined }

/** A page also ends at `pageFieldsMax`. */
const pageRecordsMax = 1000
/** Approximate size of a page, in fields instead of bytes. */
const pageFieldsMax = 100_000
/** Maximum number of documents and deletions that one transaction reads, also if the page omits them. */
const examinedMax = 2000

/** The time and the collections of an export, which are fixed at its start. */
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

/**
 * Reads a page in one transaction. The page may be empty although other pages follow. Throws {@link TransferError} when the
 * history no longer contains the requested time.
 */
export function readSlice(
  store: Store,
  database: DatabaseId,
  request: ExportPageRequest,
  onCosts: OnCosts | undefined,
): ExportPage {
  try {
    const read = (transaction: Transaction) => new ExportPageReader(transaction, database, request).read()
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

class ExportPageReader {
  readonly #transaction: Transaction
  readonly #request: ExportPageRequest
  readonly #collection: Ref
  readonly #records: DocumentRecord[] = []
  #fields = 0
  #examined = 0

  constructor(transaction: Transaction, database: DatabaseId, request: ExportPageRequest) {
    this.#transaction = transaction
    this.#request = request
    const number = new Resolver(transaction.catalogue, database).transferredCollection(request.collection)
    if (number === undefined) throw new TransferError(`there is no collection ${request.collection}`)
    this.#collection = new Ref(database, native.collections, BigInt(number))
  }

  read(): ExportPage {
    const { at, place } = this.#request
    const { database, id } = this.#collection
    // Reading a removed version fails. In a collection whose documents have all expired, there is no row to read.
    this.#transaction.requireRetained(database, Number(id), at)
    const next = place.part === 'versions' ? this.#rest(place) : this.#from(place)
    return { records: this.#records, next }
  }

  get #isFull(): boolean {
    return this.#records.length >= pageRecordsMax || this.#fields >= pageFieldsMax
  }

  /** True if the transaction should not read further documents. */
  get #isOver(): boolean {
    return this.#isFull || this.#examined >= examinedMax
  }

  #from(place: LivePlace | EndedPlace): PagePlace | undefined {
    return place.part === 'live' ? this.#live(place.after) : this.#ended(place)
  }

  /** Adds the remaining versions of a document, and then the next documents. */
  #rest({ after, of }: VersionsPlace): PagePlace | undefined {
    const id = of.part === 'live' ? of.after : of.id
    const document = new Ref(this.#collection.database, Number(this.#collection.id), id)
    const present = of.part === 'live' ? this.#transaction.get(document, this.#request.at) : undefined
    return this.#older(document, present, of, after) ?? this.#from(of)
  }

  #live(after: bigint | undefined): PagePlace | undefined {
    const { at, history } = this.#request
    const { database, id } = this.#collection
    for (const document of this.#transaction.storedDocuments(database, Number(id), after)) {
      this.#examined++
      const place = { part: 'live', after: document.id } as const
      const version = this.#transaction.get(document, at)
      if (version !== undefined) {
        this.#add(version, false)
        const rest = history ? this.#older(document, version, place) : undefined
        if (rest !== undefined) return rest
      }
      if (this.#isOver) return place
    }
    return history ? { part: 'ended', after: epoch, id: 0n } : undefined
  }

  /**
   * Adds the versions that are older than `present`, the version that is exported as current, and later than `since`.
   * `place`: the place of the document. Returns the place of the remaining versions if the page is full.
   */
  #older(
    document: Ref,
    present: Version | undefined,
    place: VersionsPlace['of'],
    since?: Micros,
  ): VersionsPlace | undefined {
    const { at } = this.#request
    for (const version of this.#transaction.versions(document, { notBefore: since })) {
      if (typeof version.ts !== 'number' || version.ts > at) break
      if (version.ts === present?.ts || (since !== undefined && version.ts <= since)) continue
      if (this.#isFull) return { part: 'versions', of: place, after: micros(version.ts - 1) }
      this.#add(version, true)
    }
    return undefined
  }

  /** Adds the versions of deleted documents, in the order of the deletions. Omits documents that were created again. */
  #ended({ after, id: afterId }: EndedPlace): PagePlace | undefined {
    const { at } = this.#request
    const { database, id } = this.#collection
    const collection = Number(id)
    const from = { ts: after, action: 'remove', document: { id: afterId, collection }, side: 'high' } as const
    const to = { ts: at, side: 'high' } as const
    let last = after
    for (const { action, document, ts } of this.#transaction.documentEvents(database, collection, {
      from,
      to,
    })) {
      if (typeof ts !== 'number') continue
      // The events of a collection contain the creations, too. A transaction that reads only creations ends between two
      // times, because a place is always after a deletion.
      if (ts !== last && this.#isOver) return { part: 'ended', after: last, id: int64Max }
      last = ts
      this.#examined++
      if (action !== 'remove') continue
      const place = { part: 'ended', after: ts, id: document.id } as const
      const rest = this.#endOf(document) === ts ? this.#older(document, undefined, place) : undefined
      if (rest !== undefined) return rest
      if (this.#isOver) return place
    }
    return undefined
  }

  /** When a document was deleted. Returns undefined if it was created again before the time of the export. */
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
    // A document without fields counts as 8 fields.
    this.#fields += 8 + countFields(version.fields)
    this.#records.push({
      kind: 'document',
      collection: this.#request.collection,
      id: version.ref.id,
      ts: version.ts as Micros,
      isHistory,
      isDelete: version.action === 'delete',
      fields: withNames(version.fields, catalogue) as ObjectValue,
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
