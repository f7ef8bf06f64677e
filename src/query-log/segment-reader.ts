// Finds the records of an export. An incomplete record at the end of a segment is skipped. Damaged records are skipped and
// counted. Segments of lines (of versions before 1.0) are read in blocks of fixed size, and the bytes of records are
// compared without parsing. This is possible because all records have the same keys in the same order. JSON strings
// escape every quote inside, so `"DATABASE":[` can only be the key itself.

import { isUtf8 } from 'node:buffer'
import { closeBrace, closeBracket, colon, comma, newline, openBrace, quote } from '../values/json-scan.ts'
import { formatTimestamp, timestampChars } from './exported-record.ts'
import type { LogEntry } from './log-entry.ts'
import { lineBlocks, lineEntries } from './log-lines.ts'
import { isTrail, isWithin, type LogDatabase, splitBefore } from './ownership.ts'
import type { SearchText } from './search-text.ts'
import { recordsOf } from './segment-blocks.ts'
import { hasLines, segmentsOf, type TimeSpan } from './segment-files.ts'

export interface RecordFilter extends TimeSpan {
  readonly regionGroup: string
  /** Restricts the export to records of this database and its descendants. */
  readonly database?: LogDatabase
}

const zero = 0x30
const nine = 0x39

const databaseKey = Buffer.from('"DATABASE":[')
const regionKey = Buffer.from('"REGION_GROUP":')
/** The text between a record's time and its last number. */
const tail = Buffer.from('","TXN_RETRIES":')

/** Called for each segment with damaged records. These records are omitted. */
export type OnDamage = (path: string, records: number) => void

/** Maximum number of lines in a buffer of {@link matchingRecords}. */
const linesMax = 500

/**
 * Yields the records of a segment in groups. A group is valid until the next group is requested. Skips damaged records.
 * `text`: records that do not contain this text may be skipped, see {@link LogEntry.contains}.
 * Throws if a later version of the program wrote the segment, and throws the reason of `signal` once the signal is
 * aborted.
 */
export async function* entriesOf(
  path: string,
  signal?: AbortSignal,
  text?: SearchText,
): AsyncGenerator<Iterable<LogEntry>> {
  if (hasLines(path)) yield* lineEntries(path, signal, text)
  else for await (const { records } of recordsOf(path, signal)) yield records
}

/**
 * Yields the matching records of all segments in a folder, as lines in the format of exports. Throws like
 * {@link entriesOf}, even if no record matches.
 */
export async function* matchingRecords(
  folder: string,
  filter: RecordFilter,
  signal?: AbortSignal,
  onDamage: OnDamage = () => undefined,
): AsyncGenerator<Buffer> {
  const matches = createMatch(filter)
  for (const { path } of await segmentsOf(folder, filter)) {
    if (!hasLines(path)) {
      yield* matchingOf(path, filter, signal, onDamage)
      continue
    }
    const lines = new Lines(matches)
    for await (const block of lineBlocks(path, signal)) {
      const found = lines.select(block)
      if (found) yield found
    }
    if (lines.damaged > 0) onDamage(path, lines.damaged)
  }
}

async function* matchingOf(
  path: string,
  { database, from, regionGroup, to }: RecordFilter,
  signal: AbortSignal | undefined,
  onDamage: OnDamage,
): AsyncGenerator<Buffer> {
  let skipped = 0
  for await (const { damaged, records } of recordsOf(path, signal)) {
    skipped += damaged
    let lines: string[] = []
    for (const record of records) {
      const { time, trail } = record
      if (time < from || time >= to || record.regionGroup !== regionGroup) continue
      if (database !== undefined && !isWithin(database, trail, () => record.database, time)) continue
      lines.push(record.line(), '\n')
      if (lines.length < 2 * linesMax) continue
      yield Buffer.from(lines.join(''))
      lines = []
    }
    if (lines.length > 0) yield Buffer.from(lines.join(''))
  }
  if (skipped > 0) onDamage(path, skipped)
}

/**
 * Returns whether the record between the offsets `start` and `end` matches. `time`: the offset of the record's time.
 */
type Match = (block: Buffer, start: number, end: number, time: number, trail: string | undefined) => boolean

/** The lines of a segment, block by block. */
class Lines {
  /** Complete lines that are not records. */
  damaged = 0
  readonly #matches: Match

  constructor(matches: Match) {
    this.#matches = matches
  }

  /** Returns a copy of the matching lines in a block; undefined when no line matches. */
  select(block: Buffer): Buffer | undefined {
    const records: Buffer[] = []
    for (let start = 0; start < block.length; ) {
      const next = block.indexOf(newline, start) + 1
      const record = recordIn(block, start, next)
      if (this.#isWanted(block, start, record, next - 1)) records.push(block.subarray(record, next))
      start = next
    }
    return records.length === 0 ? undefined : Buffer.concat(records)
  }

  #isWanted(block: Buffer, start: number, record: number, end: number): boolean {
    const time = record < 0 ? -1 : timeIn(block, record, end)
    const trail = record > start ? splitBefore(block.toString('latin1', start, record)).trail : undefined
    if (time >= 0 && (trail === undefined || isTrail(trail))) {
      if (!this.#matches(block, record, end, time, trail)) return false
      if (isJson(block.subarray(record, end))) return true
    }
    this.damaged++
    return false
  }
}

/**
 * Returns whether a line is valid JSON in UTF-8. This check finds a line in which the disk has corrupted some bytes.
 */
function isJson(line: Buffer): boolean {
  try {
    JSON.parse(line.toString())
    return isUtf8(line)
  } catch {
    return false
  }
}

function createMatch({ from, to, regionGroup, database }: RecordFilter): Match {
  const first = Buffer.from(formatTimestamp(from))
  const last = Buffer.from(formatTimestamp(to))
  const region = Buffer.from(JSON.stringify(regionGroup))
  const path = database && Buffer.from(JSON.stringify(database.names).slice(1, -1))
  const since = database && Buffer.from(formatTimestamp(Math.min(database.since, to)))
  const mark = database && `/${database.id}/`
  return (block, start, end, time, trail) => {
    if (compare(block, time, first) < 0 || compare(block, time, last) >= 0) return false
    if (mark !== undefined && trail !== undefined && !trail.includes(mark)) return false
    if (path !== undefined && since !== undefined && trail === undefined) {
      if (compare(block, time, since) < 0 || !isBelow(block, start, end, path)) return false
    }
    const at = block.indexOf(regionKey, start) + regionKey.length
    return at < end && compare(block, at, region) === 0
  }
}

/**
 * Returns the offset of the record in a line; -1 if the line has no record. Before the record, the line has the
 * trail (the ids of the record's database and its ancestors, see ownership.ts) and optional facts (facts.ts).
 */
function recordIn(block: Buffer, start: number, next: number): number {
  const at = block.indexOf(openBrace, start)
  return at < next ? at : -1
}

/** Returns the offset of a record's time, or -1 if the line is not a complete record. */
function timeIn(block: Buffer, start: number, end: number): number {
  if (block[start] !== openBrace || block[end - 1] !== closeBrace) return -1
  let at = end - 2
  while (at > start && isDigit(block[at] as number)) at--
  if (block[at] !== colon) return -1
  at -= tail.length - 1
  const time = at - timestampChars
  return time > start && compare(block, at, tail) === 0 && block[time - 1] === quote ? time : -1
}

/** Returns whether the names of a record's database begin with the names in `path`. */
function isBelow(block: Buffer, start: number, end: number, path: Buffer): boolean {
  const at = block.indexOf(databaseKey, start) + databaseKey.length
  if (at >= end || compare(block, at, path) !== 0) return false
  const next = block[at + path.length]
  return next === closeBracket || next === comma
}

function isDigit(code: number): boolean {
  return code >= zero && code <= nine
}

/** Compares the bytes at an offset with `wanted`: negative, zero or positive. */
function compare(block: Buffer, at: number, wanted: Buffer): number {
  for (let index = 0; index < wanted.length; index++) {
    const difference = (block[at + index] ?? -1) - (wanted[index] as number)
    if (difference !== 0) return difference
  }
  return 0
}
