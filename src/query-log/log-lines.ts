// Reads the whole lines of a segment in blocks, and parses their records.

import { type ExportedRecord, isOfDashboard } from './exported-record.ts'
import { readFacts } from './facts.ts'
import { lineBlocks } from './line-blocks.ts'
import type { AggregateInput } from './log-aggregate.ts'
import { isTrail, splitLine } from './ownership.ts'

/** The lines of a segment, in groups; see {@link lineBlocks}. */
export async function* linesOf(path: string, signal?: AbortSignal): AsyncGenerator<readonly string[]> {
  for await (const block of lineBlocks(path, signal))
    yield block.toString('utf8', 0, block.length - 1).split('\n')
}

/** A line of the log in the export format, and its trail, if any. */
export interface LogLine {
  readonly trail: string | undefined
  /** The unparsed facts; see facts.ts. */
  readonly facts: string | undefined
  readonly record: ExportedRecord
}

/** Parses the record of a line; undefined for a damaged line. */
export function parseRecord(line: string): LogLine | undefined {
  const { facts, record, trail } = splitLine(line)
  if (trail !== undefined && !isTrail(trail)) return undefined
  try {
    return { trail, facts, record: JSON.parse(record) as ExportedRecord }
  } catch {
    return undefined
  }
}

/** The time of a record, in milliseconds since the Unix epoch. */
export function timeOf({ TS }: ExportedRecord): number {
  return Date.parse(`${TS.slice(0, 10)}T${TS.slice(11, 23)}Z`)
}

/** The part of a record that enters aggregates. */
export function summed({ facts, record, trail }: LogLine): AggregateInput {
  const read = facts === undefined ? undefined : readFacts(facts, record.FQL_SHAPE)
  const status = Number(record.RESPONSE_CODE)
  return {
    trail,
    database: record.DATABASE,
    isOfDashboard: isOfDashboard(record),
    time: timeOf(record),
    shape: read?.shape ?? record.FQL_SHAPE,
    fault: read?.fault,
    status,
    totals: {
      requests: 1,
      clientErrors: status >= 400 && status < 500 ? 1 : 0,
      serverErrors: status >= 500 ? 1 : 0,
      queryTimeMs: record.QUERY_TIME_MS,
      queryTimeMaxMs: record.QUERY_TIME_MS,
      readOps: record.BYTE_READ_OPS,
      writeOps: record.BYTE_WRITE_OPS,
      computeOps: record.COMPUTE_OPS,
      bytesIn: record.BYTES_IN,
      bytesOut: record.BYTES_OUT,
    },
  }
}
