// Finds the records of an export. Segments are read in blocks of fixed size. The bytes of records are compared without
// parsing. This is possible because all records have the same keys in the same order. JSON strings escape every quote
// inside, so `"DATABASE":[` can only be the key itself. An incomplete record at the end of a segment is skipped.
// Complete but invalid lines are skipped and counted.

import { isUtf8 } from 'node:buffer'
import { closeBrace, closeBracket, colon, comma, newline, openBrace, quote } from '../values/json-scan.ts'
import { formatTimestamp, timestampChars } from './exported-record.ts'
import { lineBlocks } from './log-lines.ts'
import { isTrail, type LogDatabase, splitBefore } from './ownership.ts'
import { segmentsOf, type TimeSpan } from './segment-files.ts'

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

/** Called for each segment with invalid lines. These lines are omitted. */
export type OnDamage = (path: string, lines: number) => void

/**
 * Yields the matching lines of all segments in a folder. Each buffer contains the matching lines of one block. Throws
 * the reason of `signal` once the signal is aborted, even if no line matches.
 */
export async function* matchingRecords(
  folder: string,
  filter: RecordFilter,
  signal?: AbortSignal,
  onDamage: OnDamage = () => undefined,
): AsyncGenerator<Buffer> {
  const matches = createMatch(filter)
  for (const { path } of await segmentsOf(folder, filter)) {
    const lines = new Lines(matches)
    for await (const block of lineBlocks(path, signal)) {
      const found = lines.select(block)
      if (found) yield found
    }
    if (lines.damaged > 0) onDamage(path, lines.damaged)
  }
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
