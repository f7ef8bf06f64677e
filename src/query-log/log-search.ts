// Finds single records of the query log, the newest first, a page at a time.

import type { ExportedRecord } from './exported-record.ts'
import { type ReadFacts, readFacts } from './facts.ts'
import { type LogLine, linesOf, parseRecord, timeOf } from './log-lines.ts'
import { isOf, splitLine } from './ownership.ts'
import { areWantedFacts, isWantedRecord, type RecordWish } from './record-match.ts'
import { segmentsOf, slackMs } from './segment-files.ts'
import type { RecordFilter } from './segment-reader.ts'

/** Which records are looked for. */
export interface RecordSearch extends RecordFilter, RecordWish {
  /** What the record has to hold anywhere, in whichever case; names that the query was found to use count. */
  readonly text?: string | undefined
  /** Whether who asked is looked for; absent: any caller. */
  readonly isWantedCaller?: (found: ToldRecord) => boolean
  readonly limit: number
  /** Of those at the very last moment of the span, so many have been seen. */
  readonly skip: number
}

/** A record with what is known beside it. */
export interface ToldRecord {
  readonly record: ExportedRecord
  readonly trail: string | undefined
  readonly facts: ReadFacts | undefined
}

/** A page of records; `next` leads to the page behind it. */
export interface RecordPage {
  readonly records: readonly ToldRecord[]
  readonly next: { readonly to: number; readonly skip: number } | undefined
}

interface Found extends ToldRecord {
  readonly time: number
}

/** The newest records that a search finds. Ends with the reason of an aborted signal. */
export async function searchRecords(
  folder: string,
  search: RecordSearch,
  signal: AbortSignal,
): Promise<RecordPage> {
  const wanted = search.skip + search.limit + 1
  let found: Found[] = []
  for (const { endedMs, path } of (await segmentsOf(folder, search)).toReversed()) {
    // Segments of other processes may hold records of the same time; those that ended before cannot.
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

/** The next page ends at the millisecond of the last record, of which some have been seen. */
function nextAfter(
  time: number,
  found: readonly Found[],
  { skip, limit, to }: RecordSearch,
): RecordPage['next'] {
  const seen = found.slice(0, skip + limit).filter(each => each.time === time).length
  return { to: Math.min(to, time + 1), skip: seen }
}

function newest(found: Found[], count: number): Found[] {
  return found.sort((left, right) => right.time - left.time).slice(0, count)
}

function collect(lines: readonly string[], search: RecordSearch, found: Found[]): void {
  // As it stands inside the JSON of a line.
  const text = search.text && JSON.stringify(search.text).slice(1, -1).toLowerCase()
  for (const line of lines) {
    // Most lines are passed over before they are read.
    if (text !== undefined && !line.toLowerCase().includes(text)) continue
    const parsed = parseRecord(line)
    const each = parsed && wanted(parsed, search)
    if (each !== undefined && (text === undefined || tells(line, each, text))) found.push(each)
  }
}

/** Whether a record, its shape with names or its error holds a text in lower case; numbers of callers are not told. */
function tells(line: string, { facts }: Found, text: string): boolean {
  if (splitLine(line).record.toLowerCase().includes(text)) return true
  const told = JSON.stringify([facts?.shape, facts?.named.map(({ name }) => name), facts?.fault])
  return told.toLowerCase().includes(text)
}

function wanted(parsed: LogLine, search: RecordSearch): Found | undefined {
  const { record, trail } = parsed
  if (record.REGION_GROUP !== search.regionGroup) return undefined
  const time = timeOf(record)
  if (time < search.from || time >= search.to || !isWantedRecord(record, search)) return undefined
  if (search.database && !isOf(search.database, trail, () => record.DATABASE, time)) return undefined
  const facts = parsed.facts === undefined ? undefined : readFacts(parsed.facts, record.FQL_SHAPE)
  if (!areWantedFacts(facts, record.FQL_SHAPE, search)) return undefined
  const found = { time, record, trail, facts }
  return search.isWantedCaller === undefined || search.isWantedCaller(found) ? found : undefined
}
