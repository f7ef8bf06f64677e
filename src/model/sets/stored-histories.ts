// The histories that storage holds: of an index's entries, of a collection, of one document.

import type {
  EventBound,
  IndexDefinition,
  IndexEvent,
  EventScan as StoredScan,
  Version,
} from '../../store/contract.ts'
import type { ObjectValue, Ref, Value } from '../../values/value.ts'
import { changesBetween } from '../changes-between.ts'
import { visibleFields } from '../view-document.ts'
import type { ElementFilter } from './access.ts'
import {
  type HistoryPlace,
  type HistoryScan,
  type HistoryStream,
  isWithin,
  type SetEvent,
  upTo,
} from './history.ts'
import type { Reading } from './reading.ts'
import { documentsPartitions, matchKey, partitionsOf } from './stored-streams.ts'

function storedScan(scan: HistoryScan, { at }: Reading): StoredScan {
  const { from, to, reverse } = upTo(scan, at)
  return {
    ...(from && { from: storedBound(from) }),
    ...(to && { to: storedBound(to) }),
    ...(reverse && { reverse }),
  }
}

function storedBound({ ts, action, document, values, side }: HistoryPlace): EventBound {
  if (!action) return { ts, side }
  const isGoing = action === 'remove' || action === 'delete'
  const bound = { ts, action: isGoing ? 'remove' : 'add', side } as const
  return document ? { ...bound, document, ...(values && { values }) } : bound
}

/** The add and remove events of an index's entries under some terms. */
export class MatchHistory implements HistoryStream {
  readonly order = 'removes first'
  readonly #index: IndexDefinition
  readonly #terms: readonly Value[]
  readonly #shows: ElementFilter
  readonly #reading: Reading
  readonly #sources: readonly Value[]

  /** `source`, here and below: see {@link SetEvent.sources}. */
  constructor(
    index: IndexDefinition,
    terms: readonly Value[],
    source: Value,
    shows: ElementFilter,
    reading: Reading,
  ) {
    this.#index = index
    this.#terms = terms
    this.#shows = shows
    this.#reading = reading
    this.#sources = [source]
  }

  scan(scan: HistoryScan): Iterable<SetEvent> {
    const { transaction } = this.#reading.session
    const stored = transaction.matchEvents(this.#index, this.#terms, storedScan(scan, this.#reading))
    const key = `events ${matchKey(this.#index, this.#terms, this.#reading)}`
    return this.#reading.measured(key, partitionsOf(this.#index), stored, event => this.#view(event))
  }

  #view(event: IndexEvent): SetEvent | undefined {
    return this.#shows(event.document) ? { ...event, fields: null, sources: this.#sources } : undefined
  }
}

/** The add and remove events of a collection's documents. */
export class DocumentsHistory implements HistoryStream {
  readonly order = 'removes first'
  readonly #collection: Ref
  readonly #shows: ElementFilter
  readonly #reading: Reading
  readonly #sources: readonly Value[]

  constructor(collection: Ref, source: Value, shows: ElementFilter, reading: Reading) {
    this.#collection = collection
    this.#shows = shows
    this.#reading = reading
    this.#sources = [source]
  }

  scan(scan: HistoryScan): Iterable<SetEvent> {
    const { database, id } = this.#collection
    const { transaction } = this.#reading.session
    const stored = transaction.documentEvents(database, Number(id), storedScan(scan, this.#reading))
    const key = `events documents ${database}/${id}`
    return this.#reading.measured(key, documentsPartitions, stored, event => this.#view(event))
  }

  #view(event: IndexEvent): SetEvent | undefined {
    return this.#shows(event.document) ? { ...event, fields: null, sources: this.#sources } : undefined
  }
}

/** What happened to one document: its versions as creates, updates and deletes, or its add and remove events alone. */
export class SingleDocumentHistory implements HistoryStream {
  readonly order = 'adds first'
  readonly #document: Ref
  readonly #kind: 'versions' | 'membership'
  readonly #reading: Reading
  readonly #sources: readonly Value[]

  constructor(document: Ref, source: Value, kind: 'versions' | 'membership', reading: Reading) {
    this.#document = document
    this.#kind = kind
    this.#reading = reading
    this.#sources = [source]
  }

  *scan(scan: HistoryScan): Generator<SetEvent> {
    const { database, collection, id } = this.#document
    const bounded = upTo(scan, this.#reading.at)
    const stored = this.#reading.session.transaction.versions(this.#document, {
      reverse: scan.reverse === true,
    })
    const key = `versions ${database}/${collection}/${id}`
    const versions = this.#reading.measured(key, 1, stored, version => version)
    for (const [version, previous] of withPrevious(versions, scan.reverse === true)) {
      const event =
        this.#kind === 'versions' ? this.#change(version, previous) : this.#membership(version, previous)
      if (event && isWithin(event, bounded, this.order)) yield event
    }
  }

  #change(version: Version, previous: Version | undefined): SetEvent {
    const { ts, action } = version
    return {
      ts,
      action,
      document: this.#document,
      values: [],
      fields: this.#fields(version, previous),
      sources: this.#sources,
    }
  }

  #fields(version: Version, previous: Version | undefined): ObjectValue | null {
    const { session } = this.#reading
    if (version.action === 'delete') return null
    const fields = visibleFields(version, session)
    if (version.action === 'create' || !previous || previous.action === 'delete') return fields
    return changesBetween(visibleFields(previous, session), fields)
  }

  #membership(version: Version, previous: Version | undefined): SetEvent | undefined {
    const isLive = version.action !== 'delete'
    const wasLive = previous !== undefined && previous.action !== 'delete'
    if (isLive === wasLive) return undefined
    const action = isLive ? 'add' : 'remove'
    return {
      ts: version.ts,
      action,
      document: this.#document,
      values: [],
      fields: null,
      sources: this.#sources,
    }
  }
}

/** Each version with the one before it in time. */
function* withPrevious(
  versions: Iterable<Version>,
  reverse: boolean,
): Generator<readonly [Version, Version | undefined]> {
  let held: Version | undefined
  for (const version of versions) {
    if (!reverse) yield [version, held]
    else if (held) yield [held, version]
    held = version
  }
  if (reverse && held) yield [held, undefined]
}
