// Searches for single records of the query log and returns them in pages, the newest first.

import type { Micros } from '../values/value.ts'
import { type ExportedRecord, isOfDashboard } from './exported-record.ts'
import { type ParsedFacts, readFacts } from './facts.ts'
import { type LogLine, linesOf, parseRecord, timeOf } from './log-lines.ts'
import { isWithin, splitLine } from './ownership.ts'
import { segmentsOf, slackMs } from './segment-files.ts'
import type { RecordFilter } from './segment-reader.ts'

export interface RecordSearch extends RecordFilter, RecordConditions {
  /**
   * This text must occur in the record, the shape of its query, the names of its schema objects, or its error. The case
   * of letters is ignored.
   */
  readonly text?: string | undefined
  /** Returns whether the record's caller is wanted. If undefined, the search finds records of all callers. */
  readonly isWantedCaller?: (found: LogRecord) => boolean
  readonly limit: number
  /**
   * The number of records to skip. Pages go from new to old, and a page may begin within the millisecond at which the
   * previous page ended. `skip` counts the records of this millisecond on earlier pages.
   */
  readonly skip: number
}

/** With the facts that the export format lacks. */
export interface LogRecord {
  readonly record: ExportedRecord
  readonly trail: string | undefined
  readonly facts: ParsedFacts | undefined
}

/** A page of records. `next`: the start of the next page; undefined on the last page. */
export interface RecordPage {
  readonly records: readonly LogRecord[]
  readonly next: { readonly to: number; readonly skip: number } | undefined
}

interface TimedRecord extends LogRecord {
  readonly time: number
}

/** Returns the newest records that match a search. Throws the reason of `signal` once the signal is aborted. */
export async function searchRecords(
  folder: string,
  search: RecordSearch,
  signal: AbortSignal,
): Promise<RecordPage> {
  const wanted = search.skip + search.limit + 1
  let found: TimedRecord[] = []
  for (const { endedMs, path } of (await segmentsOf(folder, search)).toReversed()) {
    // Segments of several processes may overlap in time. A segment is skipped if enough records have been found, and
    // all these records are later than the last write to the segment.
    const last = found[wanted - 1]
    if (last !== undefined && endedMs + slackMs < last.time) continue
    for await (const lines of linesOf(path, signal)) {
      collect(lines, search, found)
      if (found.length > wanted * 4) found = newest(found, wanted)
    }
    found = newest(found, wanted)
  }
  const page = found.slice(search.skip, search.skip + search.limit)
  const isMore = found.length > search.skip + search.limit
  const last = page.at(-1)
  return {
    records: page.map(({ facts, record, trail }) => ({ facts, record, trail })),
    next: isMore && last ? nextAfter(last.time, found, search) : undefined,
  }
}

/**
 * Returns the start of the next page, which contains older records. Its span ends with the millisecond of this page's
 * last record. `skip` counts the records of this millisecond on this page and the earlier pages.
 */
function nextAfter(
  time: number,
  found: readonly TimedRecord[],
  { skip, limit, to }: RecordSearch,
): RecordPage['next'] {
  const seen = found.slice(0, skip + limit).filter(each => each.time === time).length
  return { to: Math.min(to, time + 1), skip: seen }
}

function newest(found: TimedRecord[], count: number): TimedRecord[] {
  return found.sort((left, right) => right.time - left.time).slice(0, count)
}

function collect(lines: readonly string[], search: RecordSearch, found: TimedRecord[]): void {
  // Lines contain JSON, so the search text is escaped as in JSON.
  const text = search.text && JSON.stringify(search.text).slice(1, -1).toLowerCase()
  for (const line of lines) {
    // In a search for a text, most lines do not contain the text. These lines are not parsed.
    if (text !== undefined && !line.toLowerCase().includes(text)) continue
    const parsed = parseRecord(line)
    const each = parsed && wanted(parsed, search)
    if (each !== undefined && (text === undefined || containsText(line, each, text))) found.push(each)
  }
}

/**
 * Returns whether a lower-case text occurs in a record, its shape, its names or its error. The numbers that identify
 * the caller are not searched.
 */
function containsText(line: string, { facts }: TimedRecord, text: string): boolean {
  if (splitLine(line).record.toLowerCase().includes(text)) return true
  const details = JSON.stringify([facts?.shape, facts?.named.map(({ name }) => name), facts?.fault])
  return details.toLowerCase().includes(text)
}

function wanted(parsed: LogLine, search: RecordSearch): TimedRecord | undefined {
  const { record, trail } = parsed
  if (record.REGION_GROUP !== search.regionGroup) return undefined
  const time = timeOf(record)
  if (time < search.from || time >= search.to || !matchesRecord(record, search)) return undefined
  if (search.database && !isWithin(search.database, trail, () => record.DATABASE, time)) return undefined
  const facts = parsed.facts === undefined ? undefined : readFacts(parsed.facts, record.FQL_SHAPE)
  if (!matchesFacts(facts, record.FQL_SHAPE, search)) return undefined
  const found = { time, record, trail, facts }
  return search.isWantedCaller === undefined || search.isWantedCaller(found) ? found : undefined
}

/** Conditions for a record and its facts; undefined conditions are ignored. */
export interface RecordConditions {
  /** A status, or `2xx`, `4xx`, `5xx`. */
  readonly status?: string | undefined
  readonly slowerThanMs?: number | undefined
  /** Only records with more read, write and compute operations in total than this number. */
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
  /** Only requests whose writes were committed at one of these times. */
  readonly commitTimes?: ReadonlySet<Micros> | undefined
}

/** Returns whether a record meets the conditions that need no facts. Called before the facts are parsed. */
function matchesRecord(record: ExportedRecord, wish: RecordConditions): boolean {
  if (record.QUERY_TIME_MS < (wish.slowerThanMs ?? 0)) return false
  if (wish.status !== undefined && !hasStatus(record, wish.status)) return false
  if (wish.withoutDashboard && isOfDashboard(record)) return false
  if (wish.tag !== undefined && !hasTag(record, wish.tag)) return false
  if (wish.isRetried !== undefined && record.TXN_RETRIES > 0 !== wish.isRetried) return false
  return wish.opsAbove === undefined || operationsOf(record) > wish.opsAbove
}

/** Returns whether a record meets the conditions that need its facts. */
function matchesFacts(facts: ParsedFacts | undefined, shape: string, wish: RecordConditions): boolean {
  if (wish.shape !== undefined && (facts?.shape ?? shape) !== wish.shape) return false
  if (wish.error !== undefined && facts?.fault?.code !== wish.error) return false
  if (wish.address !== undefined && facts?.address !== wish.address) return false
  if (wish.commitTimes !== undefined && !hasCommitTime(facts, wish.commitTimes)) return false
  if (wish.lane !== undefined && facts?.isSlow !== (wish.lane === 'slow')) return false
  const kinds = ['collection', 'index', 'function'] as const
  return kinds.every(kind => {
    const name = wish[kind]
    return name === undefined || facts?.named.some(each => each.kind === kind && each.name === name) === true
  })
}

function hasCommitTime(facts: ParsedFacts | undefined, times: ReadonlySet<Micros>): boolean {
  return facts?.commitTime !== undefined && times.has(facts.commitTime)
}

function hasStatus({ RESPONSE_CODE }: ExportedRecord, status: string): boolean {
  return status.endsWith('xx') ? RESPONSE_CODE[0] === status[0] : RESPONSE_CODE === status
}

function hasTag({ TAGS }: ExportedRecord, tag: string): boolean {
  const [name = '', value] = tag.split('=', 2)
  const found = TAGS !== undefined && Object.hasOwn(TAGS, name) ? TAGS[name] : undefined
  return found !== undefined && (value === undefined || found === value)
}

function operationsOf(record: ExportedRecord): number {
  return record.BYTE_READ_OPS + record.BYTE_WRITE_OPS + record.COMPUTE_OPS
}
