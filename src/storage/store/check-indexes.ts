// Index rows must agree with documents. The first phase reads the documents, checks that every required index row
// exists, and counts the required rows of each index. The second phase counts the existing rows of each index. If the
// two numbers differ, the rows that no document requires are reported.

import { assert } from '../../base/assert.ts'
import { compareBytes } from '../../values/order.ts'
import type { CollectionId, DatabaseId, Micros, Ref } from '../../values/value.ts'
import { decodeKey } from '../keys/key-reader.ts'
import { keyTags, tagRange } from '../keys/keyspace.ts'
import type { Entry } from '../kv/kv-contract.ts'
import { type CheckContext, nameRef } from './check-context.ts'
import { storedVersionsAscending } from './documents.ts'
import { entryDocument, entrySince, entryTtl, hasExpired, withSince } from './entry-records.ts'
import { timelineRows } from './entry-timeline.ts'
import type { IndexTables, StoredVersion } from './index-tables.ts'

/**
 * Only the rows of a `complete` index must agree with documents. The rows of an `unreachable` index are pending
 * removal, because the index or its database was deleted. An `unknown` index does not exist.
 */
export type IndexState = 'complete' | 'building' | 'unreachable' | 'unknown'

const tables = ['indexLive', 'indexEnded', 'indexEvent'] as const

export class IndexCheck {
  readonly #context: CheckContext
  readonly #tablesOf: (database: DatabaseId, collection: CollectionId) => readonly IndexTables[]
  /** The number of rows that the documents require, by table, database and index. */
  readonly #needed = new Map<string, number>()

  constructor(
    context: CheckContext,
    tablesOf: (database: DatabaseId, collection: CollectionId) => readonly IndexTables[],
  ) {
    this.#context = context
    this.#tablesOf = tablesOf
  }

  /** Every row for the document's versions must exist and have the right content. */
  checkDocument(ref: Ref, versions: readonly StoredVersion[]): void {
    const minimum = this.#context.minimumOf(ref.database, ref.collection)
    for (const index of this.#tablesOf(ref.database, ref.collection)) {
      for (const row of timelineRows(index, versions).values()) {
        if (mayBeRemoved(row, minimum)) continue
        const counter = counterOf(row.key)
        this.#needed.set(counter, (this.#needed.get(counter) ?? 0) + 1)
        this.#checkRow(ref, index, row, minimum)
      }
    }
  }

  #checkRow(ref: Ref, index: IndexTables, row: Entry, minimum: Micros): void {
    const { report, snapshot } = this.#context
    const stored = snapshot.view.get(row.key)
    const what = `in table ${tableName(row.key)} of index ${index.number}`
    if (stored === undefined) {
      report(`${nameRef(ref)} has no entry ${what}`)
      return
    }
    // Versions from before the retained history may have been removed, so the exact time of an earlier addition is
    // unknown.
    const since = entrySince({ key: row.key, value: stored })
    const isOld = row.key[0] !== keyTags.indexEvent && entrySince(row) <= minimum && since <= minimum
    const expected = isOld ? withSince(row.value, since) : row.value
    if (compareBytes(stored, expected) !== 0) report(`${nameRef(ref)} has a wrong entry ${what}`)
  }

  /** Each existing row must be required by a document. Called after {@link checkDocument} for all documents. */
  checkRows(stateOf: (database: DatabaseId, index: number) => IndexState): void {
    const found = new Map<string, number>()
    for (const { row, database, index } of this.#rows()) {
      const state = stateOf(database, index)
      if (state === 'unknown')
        this.#context.report(`index ${index} of database ${database} does not exist, but has entries`)
      if (state !== 'complete' || !this.#isCounted(row, database)) continue
      const counter = counterOf(row.key)
      found.set(counter, (found.get(counter) ?? 0) + 1)
    }
    for (const [counter, count] of found) {
      if (count !== (this.#needed.get(counter) ?? 0)) this.#reportExtraRows(counter)
    }
  }

  *#rows(): Generator<{ row: Entry; database: DatabaseId; index: number }> {
    for (const table of tables) {
      for (const row of this.#context.snapshot.view.range(tagRange(table))) {
        this.#context.onStep('entries of indexes')
        yield { row, ...indexIdsOf(row.key) }
      }
    }
  }

  /**
   * Rows of deleted collections are not counted, and neither are rows that the sweeper (sweeper.ts) may remove at any
   * time.
   */
  #isCounted(row: Entry, database: DatabaseId): boolean {
    const { collection } = entryDocument(database, row)
    if (!this.#context.catalogue.hasCollection(database, collection)) return false
    return !mayBeRemoved(row, this.#context.minimumOf(database, collection))
  }

  #reportExtraRows(counter: string): void {
    for (const { row, database, index } of this.#rows()) {
      if (counterOf(row.key) !== counter || !this.#isCounted(row, database)) continue
      const ref = entryDocument(database, row)
      const versions = Array.from(storedVersionsAscending(this.#context.snapshot, ref), stored =>
        this.#context.reader.read(ref, stored),
      )
      const tables = this.#tablesOf(database, ref.collection).find(({ number }) => number === index)
      const needed = tables === undefined ? [] : [...timelineRows(tables, versions).values()]
      if (needed.some(({ key }) => compareBytes(key, row.key) === 0)) continue
      const what = `in table ${tableName(row.key)} of index ${index}`
      this.#context.report(`${nameRef(ref)} has an entry ${what} that belongs to no version`)
    }
  }
}

/**
 * Returns whether the sweeper (sweeper.ts) may have removed the row. The sweeper may remove the entries of an expired
 * document before the document.
 */
function mayBeRemoved(row: Entry, minimum: Micros): boolean {
  return hasExpired(row, minimum) || (row.key[0] !== keyTags.indexEvent && entryTtl(row) <= minimum)
}

function indexIdsOf(key: Uint8Array): { readonly database: DatabaseId; readonly index: number } {
  const decoded = decodeKey(key)
  assert('termsBytes' in decoded, 'tables of indexes hold entries')
  return { database: decoded.database, index: decoded.index }
}

function counterOf(key: Uint8Array): string {
  const { database, index } = indexIdsOf(key)
  return `${key[0]}/${database}/${index}`
}

function tableName(key: Uint8Array): string {
  if (key[0] === keyTags.indexLive) return 'live'
  return key[0] === keyTags.indexEnded ? 'ended' : 'events'
}
