// Rewinds a collection: restores its documents as they were at a given time. First, queries of version 4 delete the
// documents that did not exist at that time, because they may contain unique values that restored documents need. Then
// the documents of that time are read with the code of exports, and written with the code of imports, which preserve
// the values of both languages and skip documents that have not changed.

import { micros } from '../base/micros.ts'
import { formatMicros, microsOfTime, parseTime } from '../values/time.ts'
import type { Json, Micros } from '../values/value.ts'
import { batchCharactersMax } from './batches.ts'
import { type DatabasePath, QueryError, type TransferConnection } from './connection.ts'
import { object as form } from './query-json.ts'
import { firstPlace, type PagePlace } from './read-page.ts'
import { type DocumentRecord, TransferError } from './record.ts'
import { recordText } from './record-text.ts'

interface RewindOptions {
  readonly database: DatabasePath
  readonly collection: string
  /** The time whose state is restored. */
  readonly to: Micros
  /** Documents per transaction. */
  readonly batch: number
  readonly dryRun: boolean
}

/** The part of a connection that a rewind uses. */
export type RewindConnection = Pick<TransferConnection, 'name' | 'query' | 'write' | 'missing' | 'page'>

/** Documents by outcome. A dry run counts the documents that a rewind would change. */
export interface RewindCounts {
  deleted: number
  created: number
  replaced: number
  kept: number
  /** Not restored, because their `ttl` has passed since the time {@link RewindOptions.to}. */
  expired: number
}

/** Counts the processed documents in `progress`. Throws {@link TransferError}. */
export async function runRewind(
  connection: RewindConnection,
  options: RewindOptions,
  progress: { documents: number },
): Promise<RewindCounts> {
  const rewinder = new Rewinder(connection, options, progress)
  const from = await rewinder.begin()
  try {
    await rewinder.deleteNew(from)
    await rewinder.restore()
  } catch (cause) {
    if (options.dryRun || !(cause instanceof QueryError || cause instanceof TransferError)) throw cause
    throw new TransferError(`${cause.message}\nThe collection is partly rewound. Rewind again to continue.`)
  }
  return rewinder.counts
}

/** Maximum number of documents that an error names. */
const reasonsMax = 5

class Rewinder {
  readonly counts: RewindCounts = { deleted: 0, created: 0, replaced: 0, kept: 0, expired: 0 }
  readonly #connection: RewindConnection
  readonly #options: RewindOptions
  readonly #progress: { documents: number }

  constructor(connection: RewindConnection, options: RewindOptions, progress: { documents: number }) {
    this.#connection = connection
    this.#options = options
    this.#progress = progress
  }

  /** Returns the time at which the rewind begins. Throws if the collection cannot be restored to the time `to`. */
  async begin(): Promise<Micros> {
    const { collection, to } = this.#options
    const from = await this.#now()
    if (to >= from) throw new TransferError(`the time ${formatMicros(to)} is in the future`)
    const existed = await this.#query(reachQuery({ collection, to })).catch((cause: unknown) => {
      const earliest =
        cause instanceof QueryError && /minimum allowed timestamp (\S+?)\.?$/.exec(cause.message)?.[1]
      if (!earliest) throw cause
      throw new TransferError(
        `the history of ${collection} does not reach that far: the earliest possible time is ${earliest}`,
      )
    })
    if (existed === null) throw new TransferError(`there is no collection ${collection}`)
    if (existed === false)
      throw new TransferError(`the collection ${collection} did not exist at ${formatMicros(to)}`)
    return from
  }

  /**
   * Deletes the documents that did not exist at the time `to`. Documents created after the time `from` are not deleted.
   */
  async deleteNew(from: Micros): Promise<void> {
    const { batch, collection, dryRun, to } = this.#options
    let after: Json | undefined
    let size = batch
    for (;;) {
      const page = { collection, to, from, size, after, writes: !dryRun }
      const reply = await this.#query(deleteQuery(page)).catch((cause: unknown) => {
        if (!(cause instanceof QueryError) || size === 1) throw cause
        // The transaction may have exceeded its limits or conflicted with others. A transaction with fewer documents
        // may succeed.
        size = Math.ceil(size / 4)
        return undefined
      })
      if (reply === undefined) continue
      const found = reply instanceof Map ? reply : new Map<string, Json>()
      const outcomes = found.get('data')
      for (const outcome of Array.isArray(outcomes) ? outcomes : []) {
        if (outcome === 'deleted') this.counts.deleted++
        this.#progress.documents++
      }
      after = found.get('after') ?? undefined
      if (after === undefined) return
    }
  }

  /** Restores the documents that existed at the time `to`. */
  async restore(): Promise<void> {
    const { collection, to: at } = this.#options
    let rejected: DocumentRecord[] = []
    for (let place: PagePlace | undefined = firstPlace; place !== undefined; ) {
      const page = await this.#connection.page(this.#options.database, {
        collection,
        at,
        place,
        history: false,
      })
      rejected.push(...(await this.#write(page.records)).rejected)
      this.#progress.documents += page.records.length
      place = page.next
    }
    // The store rejects a document while another document has the same unique value. The other document may have
    // been replaced since, so rejected documents are retried.
    for (let before = Number.POSITIVE_INFINITY; rejected.length > 0 && rejected.length < before; ) {
      before = rejected.length
      const again = await this.#write(rejected)
      rejected = again.rejected
      if (rejected.length === before) await this.#reject(rejected, again.reasons)
    }
  }

  /**
   * Throws an error for rejected documents, except in a dry run, which does not delete the conflicting documents. A dry
   * run counts a rejected document as replaced if it exists now, else as created.
   */
  async #reject(rejected: readonly DocumentRecord[], reasons: readonly string[]): Promise<void> {
    const { collection, database, dryRun } = this.#options
    if (!dryRun) {
      const shown = reasons.slice(0, reasonsMax).join('\n')
      throw new TransferError(`${rejected.length} documents cannot be restored:\n${shown}`)
    }
    const missing = await this.#connection.missing(
      database,
      rejected.map(({ id }) => ({ collection, id })),
    )
    for (const isMissing of missing) this.counts[isMissing ? 'created' : 'replaced']++
  }

  async #write(
    records: readonly DocumentRecord[],
  ): Promise<{ readonly rejected: DocumentRecord[]; readonly reasons: readonly string[] }> {
    const { collection, database, dryRun } = this.#options
    const rejected: DocumentRecord[] = []
    const reasons: string[] = []
    for (const batch of this.#batches(records)) {
      const { outcomes } = await this.#connection.write(database, batch, { onConflict: 'replace', dryRun })
      for (const [at, outcome] of outcomes.entries()) {
        if (outcome.kind === 'written') this.counts.created++
        else if (outcome.kind === 'replaced') this.counts.replaced++
        else if (outcome.kind === 'equal') this.counts.kept++
        else if (outcome.kind === 'expired') this.counts.expired++
        else {
          const record = batch[at] as DocumentRecord
          rejected.push(record)
          reasons.push(`${collection}/${record.id}: ${'reason' in outcome ? outcome.reason : outcome.kind}`)
        }
      }
    }
    return { rejected, reasons }
  }

  /**
   * Divides the records into batches that fit into a request. Removes `ts`, so that each record is written as the
   * current version of its document.
   */
  *#batches(records: readonly DocumentRecord[]): Generator<readonly DocumentRecord[]> {
    let batch: DocumentRecord[] = []
    let characters = 0
    for (const { ts: _, ...record } of records) {
      const size = recordText({ ...record, ts: undefined }).length
      if (
        batch.length > 0 &&
        (characters + size > batchCharactersMax || batch.length >= this.#options.batch)
      ) {
        yield batch
        batch = []
        characters = 0
      }
      batch.push({ ...record, ts: undefined, size })
      characters += size
    }
    if (batch.length > 0) yield batch
  }

  async #now(): Promise<Micros> {
    const found = await this.#query(nowQuery)
    const text = found instanceof Map ? found.get('@ts') : undefined
    const time = typeof text === 'string' ? parseTime(text) : undefined
    if (time === undefined) throw new TransferError(`${this.#connection.name} does not return the time`)
    return micros(Number(microsOfTime(time)))
  }

  #query(expression: Json): Promise<Json> {
    return this.#connection.query(this.#options.database, expression)
  }
}

/** Returns the time of its transaction. */
const nowQuery: Json = new Map([['time', 'now']])

/** Documents that one transaction processes. */
interface RewindPage {
  readonly collection: string
  /** The time whose state is restored. */
  readonly to: Micros
  /** The time at which the rewind began. Documents that other clients create later are not deleted. */
  readonly from: Micros
  readonly size: number
  /** Cursor that the previous page returned; undefined for the first page. */
  readonly after: Json | undefined
  /** If false, the query only counts the differences. */
  readonly writes: boolean
}

/**
 * Deletes each document of a page that existed at the time `from` but not at the time `to`. The `data` of the result
 * contains `deleted` or `kept` for each document.
 */
function deleteQuery({ collection, from, to, writes, ...page }: RewindPage): Json {
  const ref = variable('ref')
  const existedThen = at(to, form({ exists: ref }))
  const deleted = writes ? form({ do: [form({ delete: ref }), 'deleted'] }) : 'deleted'
  const outcome = choose(existedThen, 'kept', choose(form({ exists: ref }), deleted, 'kept'))
  const documents = at(from, pageOf(collection, page))
  return form({ let: [form({ page: documents })], in: outcomes(form({ lambda: 'ref', expr: outcome })) })
}

/**
 * Checks whether the collection existed at the time `to`. The result is null for an unknown collection. The query fails
 * if the history of the collection begins after `to`.
 */
function reachQuery({ collection, to }: Pick<RewindPage, 'collection' | 'to'>): Json {
  const own = form({ collection })
  const first = pageOf(collection, { size: 1, after: undefined })
  const existed = form({ do: [at(to, first), at(to, form({ exists: own }))] })
  return choose(form({ exists: own }), existed, null)
}

function pageOf(collection: string, { after, size }: Pick<RewindPage, 'after' | 'size'>): Json {
  const documents = form({ documents: form({ collection }) })
  return form({ paginate: documents, size: BigInt(size), after })
}

/**
 * Evaluates the page in the variable `page`. Returns the cursor of the page (`after`), and the results of `lambda` for
 * its elements (`data`).
 */
function outcomes(lambda: Json): Json {
  const fields = form({
    after: select(['after'], variable('page')),
    data: form({ map: lambda, collection: select(['data'], variable('page')) }),
  })
  return form({ object: fields })
}

function at(time: Micros, expr: Json): Json {
  return form({ at: form({ epoch: BigInt(time), unit: 'microseconds' }), expr })
}

function choose(condition: Json, then: Json, otherwise: Json): Json {
  return form({ if: condition, then, else: otherwise })
}

function select(path: readonly string[], from: Json): Json {
  return form({ select: path, from, default: null })
}

function variable(name: string): Json {
  return form({ var: name })
}
