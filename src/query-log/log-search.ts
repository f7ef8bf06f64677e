// Finds single records of the query log, the newest first, a page at a time.

import { stat } from 'node:fs/promises'
import { type ExportedRecord, linesOf, parseRecord, timeOf } from './log-lines.ts'
import { isOf, splitLine } from './ownership.ts'
import { listSegments } from './segment-files.ts'
import type { RecordFilter } from './segment-reader.ts'

/** Which records are looked for. */
export interface RecordSearch extends RecordFilter {
  /** `2xx`, `4xx`, `5xx` by its first digit. */
  readonly statusClass: string | undefined
  /** What the record has to hold anywhere, in whichever case. */
  readonly text: string | undefined
  readonly slowerThanMs: number
  readonly limit: number
  /** Of those at the very last moment of the span, so many have been seen. */
  readonly skip: number
}

/** A page of records; `next` leads to the page behind it. */
export interface RecordPage {
  readonly records: readonly ExportedRecord[]
  readonly next: { readonly to: number; readonly skip: number } | undefined
}

interface Found {
  readonly time: number
  readonly record: ExportedRecord
}

/** A clock that was set must not hide records; milliseconds. */
const slackMs = 5000

/** The newest records that a search finds. Ends with the reason of an aborted signal. */
export async function searchRecords(
  folder: string,
  search: RecordSearch,
  signal: AbortSignal,
): Promise<RecordPage> {
  const wanted = search.skip + search.limit + 1
  let found: Found[] = []
  for (const segment of (await listSegments(folder)).reverse()) {
    if (segment.from / 1000 >= search.to) continue
    const ended = await stat(segment.path).then(
      ({ mtimeMs }) => mtimeMs,
      () => undefined,
    )
    if (ended === undefined || ended + slackMs < search.from) continue
    // Segments of other processes may hold records of the same time; those that ended before cannot.
    const oldest = found.length >= wanted ? (found[wanted - 1] as Found).time : search.from
    if (ended + slackMs < oldest) continue
    for await (const lines of linesOf(segment.path, signal)) {
      collect(lines, search, found)
      if (found.length > wanted * 4) found = newest(found, wanted)
    }
    found = newest(found, wanted)
  }
  const page = found.slice(search.skip, search.skip + search.limit)
  const isMore = found.length > search.skip + search.limit
  const last = page.at(-1)
  return {
    records: page.map(({ record }) => record),
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
    if (text !== undefined && !splitLine(line).record.toLowerCase().includes(text)) continue
    const parsed = parseRecord(line)
    if (parsed === undefined) continue
    const { record, trail } = parsed
    if (record.REGION_GROUP !== search.regionGroup) continue
    const time = timeOf(record)
    if (time < search.from || time >= search.to || record.QUERY_TIME_MS < search.slowerThanMs) continue
    if (search.statusClass !== undefined && record.RESPONSE_CODE[0] !== search.statusClass) continue
    if (search.database && !isOf(search.database, trail, () => record.DATABASE, time)) continue
    found.push({ time, record })
  }
}
