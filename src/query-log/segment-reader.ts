// Reads the records of a segment, and finds the records of an export in all segments. An incomplete record at the end
// of a segment is skipped. Damaged records are skipped and counted.

import { lineRecords } from './log-lines.ts'
import { isWithin } from './ownership.ts'
import type { SearchText } from './search-text.ts'
import { recordsOf } from './segment-blocks.ts'
import { hasLines, segmentsOf, type TimeSpan } from './segment-files.ts'
import type { RecordGroup, SegmentRecord } from './segment-record.ts'

export interface RecordFilter extends TimeSpan {
  readonly regionGroup: string
  /** An id in decimal. Selects only records of this database and its descendants. */
  readonly database?: string
}

/** Called for each segment with damaged records. These records are omitted. */
export type OnDamage = (path: string, records: number) => void

/** Maximum number of records in a buffer of {@link matchingRecords}. */
const recordsMax = 500

/**
 * Yields the records of a segment in groups. A group is valid until the next group is requested. Skips damaged records.
 * `text`: records that do not contain this text may be skipped, see {@link SegmentRecord.contains}.
 * Throws if the segment has an unknown version of the format, and throws the reason of `signal` once the signal is
 * aborted.
 */
export async function* recordsOfSegment(
  path: string,
  signal?: AbortSignal,
  text?: SearchText,
): AsyncGenerator<readonly SegmentRecord[]> {
  for await (const { records } of groupsOf(path, signal, text)) yield records
}

function groupsOf(path: string, signal?: AbortSignal, text?: SearchText): AsyncGenerator<RecordGroup> {
  return hasLines(path) ? lineRecords(path, signal, text) : recordsOf(path, signal)
}

/**
 * Yields the matching records of all segments in a folder, as lines in the format of exports. Throws like
 * {@link recordsOfSegment}, even if no record matches.
 */
export async function* matchingRecords(
  folder: string,
  filter: RecordFilter,
  signal?: AbortSignal,
  onDamage: OnDamage = () => undefined,
): AsyncGenerator<Buffer> {
  for (const { path } of await segmentsOf(folder, filter)) {
    let skipped = 0
    for await (const { damaged, records } of groupsOf(path, signal)) {
      skipped += damaged
      yield* linesOf(records, filter)
    }
    if (skipped > 0) onDamage(path, skipped)
  }
}

function* linesOf(
  records: readonly SegmentRecord[],
  { database, from, regionGroup, to }: RecordFilter,
): Generator<Buffer> {
  let lines: string[] = []
  for (const record of records) {
    const { time, trail } = record
    if (time < from || time >= to || record.regionGroup !== regionGroup) continue
    if (database !== undefined && !isWithin(database, trail)) continue
    lines.push(record.line(), '\n')
    if (lines.length < 2 * recordsMax) continue
    yield Buffer.from(lines.join(''))
    lines = []
  }
  if (lines.length > 0) yield Buffer.from(lines.join(''))
}
