// Searches for single records of the query log and returns them in pages, the newest first. A search for rare records
// reads very many records, so it ends after a number of records, and the next page continues. So each request is short,
// and the client can show the progress and stop.

import type { Micros } from '../values/value.ts'
import type { ExportedRecord } from './exported-record.ts'
import type { ParsedFacts } from './facts.ts'
import { isWithin } from './ownership.ts'
import { SearchText } from './search-text.ts'
import { segmentsOf, slackMs } from './segment-files.ts'
import { type RecordFilter, recordsOfSegment } from './segment-reader.ts'
import { isOfDashboard, operationsOf, type SegmentRecord } from './segment-record.ts'

export interface RecordSearch extends RecordFilter, RecordConditions {
  /**
   * This text must occur in the record, the shape of its query, the names of its schema objects, or its error. The case
   * of letters is ignored.
   */
  readonly text?: string | undefined
  /** Returns whether the record's caller is wanted. If undefined, the search finds records of all callers. */
  readonly isWantedCaller?: (found: RecordFacts) => boolean
  readonly limit: number
  /**
   * The number of records to skip. Pages go from new to old, and a page may begin within the millisecond at which the
   * previous page ended. `skip` counts the records of this millisecond on earlier pages.
   */
  readonly skip: number
}

export interface RecordFacts {
  readonly trail: string
  readonly facts: ParsedFacts | undefined
}

export interface LogRecord extends RecordFacts {
  readonly record: ExportedRecord
}

/**
 * A page of records. `next`: the start of the next page; undefined on the last page. A page with `next` may have fewer
 * records than its limit, or none: then the search has read all records from the time `next.to` on.
 */
export interface RecordPage {
  readonly records: readonly LogRecord[]
  readonly next: { readonly to: number; readonly skip: number } | undefined
}

interface LineMatch extends RecordFacts {
  readonly time: number
  /** The record in the format of exports. */
  readonly line: string
}

/** Number of records after which a search ends, at the end of a segment. Reading them takes about 0.5 s of CPU time. */
const examinedDefault = 500_000
/** A record that must be formatted, to compare it with a text without words, counts as this many records. */
const formattedCost = 5

/**
 * Returns the newest records that match a search. Throws the reason of `signal` once the signal is aborted.
 * `examinedMax`: see {@link examinedDefault}.
 */
export async function searchRecords(
  folder: string,
  search: RecordSearch,
  signal: AbortSignal,
  examinedMax = examinedDefault,
): Promise<RecordPage> {
  const wanted = search.skip + search.limit + 1
  const text = search.text ? new SearchText(search.text) : undefined
  const isFormatted = text !== undefined && text.word === undefined
  const segments = (await segmentsOf(folder, search)).toReversed()
  let found: LineMatch[] = []
  let examined = 0
  let from = search.from
  for (const [at, { endedMs, path }] of segments.entries()) {
    if (examined >= examinedMax) {
      from = latestEnd(segments.slice(at))
      // Without progress, the next page would be the same.
      if (from < search.to) break
      from = search.from
    }
    // Segments of several processes may overlap in time. A segment is skipped if enough records have been found, and
    // all these records are later than the last write to the segment.
    const last = found[wanted - 1]
    if (last !== undefined && endedMs + slackMs < last.time) continue
    for await (const records of recordsOfSegment(path, signal, text)) {
      // The records of a segment are in the order of time.
      if ((records[0]?.time ?? 0) >= search.to) break
      examined += records.length * (isFormatted ? formattedCost : 1)
      collect(records, search, text, found)
      if (found.length > wanted * 4) found = newest(found, wanted)
    }
    found = newest(found, wanted)
  }
  // Records before this time may be in segments that were not read.
  const complete = from === search.from ? found : found.filter(({ time }) => time >= from)
  const page = complete.slice(search.skip, search.skip + search.limit)
  const isMore = complete.length > search.skip + search.limit
  const last = page.at(-1)
  const rest = from === search.from ? undefined : { to: from, skip: 0 }
  return {
    records: page.map(({ facts, line, trail }) => ({
      facts,
      record: JSON.parse(line) as ExportedRecord,
      trail,
    })),
    next: isMore && last ? nextAfter(last.time, complete, search) : rest,
  }
}

/** Returns a time in milliseconds, from which on none of the segments has records. */
function latestEnd(segments: readonly { readonly endedMs: number }[]): number {
  return Math.ceil(Math.max(...segments.map(({ endedMs }) => endedMs)) + slackMs)
}

/**
 * Returns the start of the next page, which contains older records. Its span ends with the millisecond of this page's
 * last record. `skip` counts the records of this millisecond on this page and the earlier pages.
 */
function nextAfter(
  time: number,
  found: readonly LineMatch[],
  { skip, limit, to }: RecordSearch,
): RecordPage['next'] {
  const seen = found.slice(0, skip + limit).filter(each => each.time === time).length
  return { to: Math.min(to, time + 1), skip: seen }
}

function newest(found: LineMatch[], count: number): LineMatch[] {
  return found.sort((left, right) => right.time - left.time).slice(0, count)
}

function collect(
  records: Iterable<SegmentRecord>,
  search: RecordSearch,
  text: SearchText | undefined,
  found: LineMatch[],
): void {
  for (const record of records) {
    if (!matchesRecord(record, search) || (text !== undefined && !record.contains(text))) continue
    const facts = record.facts()
    if (!matchesFacts(facts, record.shape, search)) continue
    const { time, trail } = record
    if (search.isWantedCaller?.({ facts, trail }) === false) continue
    found.push({ time, trail, facts, line: record.line() })
  }
}

/** Conditions for a record and its facts; undefined conditions are ignored. */
export interface RecordConditions {
  /** A status, or a class such as `4xx`. */
  readonly status?: string | undefined
  readonly slowerThanMs?: number | undefined
  /** Selects records with more read, write and compute operations in total than this number. */
  readonly opsAbove?: number | undefined
  /** True: only records with retries. False: only records without retries. */
  readonly isRetried?: boolean | undefined
  /** A tag, or a tag and its value: `source=dashboard`. */
  readonly tag?: string | undefined
  /** Excludes the dashboard's own requests. */
  readonly withoutDashboard?: boolean | undefined
  /** The code of an error. */
  readonly error?: string | undefined
  readonly collection?: string | undefined
  readonly index?: string | undefined
  readonly function?: string | undefined
  readonly address?: string | undefined
  readonly lane?: 'ordinary' | 'slow' | undefined
  /** The shape of the query: its text without values, but with names. */
  readonly shape?: string | undefined
  /** Selects requests whose writes were committed at one of these times. */
  readonly commitTimes?: ReadonlySet<Micros> | undefined
}

/** Returns whether a record meets the conditions that need no facts. */
function matchesRecord(record: SegmentRecord, conditions: RecordSearch): boolean {
  const { database, from, regionGroup, to } = conditions
  const { time } = record
  if (time < from || time >= to || record.regionGroup !== regionGroup) return false
  if (record.queryTimeMs < (conditions.slowerThanMs ?? 0)) return false
  if (conditions.status !== undefined && !hasStatus(record, conditions.status)) return false
  if (conditions.withoutDashboard && isOfDashboard(record)) return false
  if (conditions.tag !== undefined && !hasTag(record, conditions.tag)) return false
  if (conditions.isRetried !== undefined && record.retries > 0 !== conditions.isRetried) return false
  if (conditions.opsAbove !== undefined && operationsOf(record) <= conditions.opsAbove) return false
  return database === undefined || isWithin(database, record.trail)
}

/** Returns whether a record meets the conditions that need its facts. */
function matchesFacts(facts: ParsedFacts | undefined, shape: string, conditions: RecordConditions): boolean {
  if (conditions.shape !== undefined && (facts?.shape ?? shape) !== conditions.shape) return false
  if (conditions.error !== undefined && facts?.fault?.code !== conditions.error) return false
  if (conditions.address !== undefined && facts?.address !== conditions.address) return false
  if (conditions.commitTimes !== undefined && !hasCommitTime(facts, conditions.commitTimes)) return false
  if (conditions.lane !== undefined && facts?.isSlow !== (conditions.lane === 'slow')) return false
  const kinds = ['collection', 'index', 'function'] as const
  return kinds.every(kind => {
    const name = conditions[kind]
    return name === undefined || facts?.named.some(each => each.kind === kind && each.name === name) === true
  })
}

function hasCommitTime(facts: ParsedFacts | undefined, times: ReadonlySet<Micros>): boolean {
  return facts?.commitTime !== undefined && times.has(facts.commitTime)
}

function hasStatus({ status }: SegmentRecord, wanted: string): boolean {
  return wanted.endsWith('xx') ? Math.floor(status / 100) === Number(wanted[0]) : status === Number(wanted)
}

function hasTag({ tags }: SegmentRecord, tag: string): boolean {
  const [name = '', value] = tag.split('=', 2)
  const found = tags !== undefined && Object.hasOwn(tags, name) ? tags[name] : undefined
  return found !== undefined && (value === undefined || found === value)
}
