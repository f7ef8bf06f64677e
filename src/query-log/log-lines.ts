// Whole lines of a segment, a block at a time, for who looks into them.

import { type ExportedRecord, isOfDashboard } from './exported-record.ts'
import { readFacts } from './facts.ts'
import { lineBlocks, openUnlessGone } from './line-blocks.ts'
import type { LogRecord } from './log-aggregate.ts'
import { isTrail, splitLine } from './ownership.ts'

const blockBytes = 524_288

/**
 * The lines of a segment from its beginning on, in runs; nothing when it is gone. Ends with the reason of `signal` once
 * that is aborted. The last line of a segment whose writer crashed may be half a line.
 */
export async function* linesOf(path: string, signal?: AbortSignal): AsyncGenerator<readonly string[]> {
  const file = await openUnlessGone(path)
  if (file === undefined) return
  try {
    const block = Buffer.allocUnsafe(blockBytes)
    for await (const end of lineBlocks(file, block, signal))
      yield block.toString('utf8', 0, end - 1).split('\n')
  } finally {
    await file.close()
  }
}

/** A line of the log in the exported format, and its trail, if it has one. */
export interface FoundRecord {
  readonly trail: string | undefined
  /** As it was written, see facts.ts. */
  readonly facts: string | undefined
  readonly record: ExportedRecord
}

/** The record in a line; undefined for damage. */
export function parseRecord(line: string): FoundRecord | undefined {
  const { facts, record, trail } = splitLine(line)
  if (trail !== undefined && !isTrail(trail)) return undefined
  try {
    return { trail, facts, record: JSON.parse(record) as ExportedRecord }
  } catch {
    return undefined
  }
}

/** When a record was written, in milliseconds since the Unix epoch. */
export function timeOf({ TS }: ExportedRecord): number {
  return Date.parse(`${TS.slice(0, 10)}T${TS.slice(11, 23)}Z`)
}

/** A record as sums take it. */
export function summed({ facts, record, trail }: FoundRecord): LogRecord {
  const read = facts === undefined ? undefined : readFacts(facts, record.FQL_SHAPE)
  return {
    trail,
    database: record.DATABASE,
    isOfDashboard: isOfDashboard(record),
    time: timeOf(record),
    shape: read?.shape ?? record.FQL_SHAPE,
    fault: read?.fault,
    status: Number(record.RESPONSE_CODE),
    queryTimeMs: record.QUERY_TIME_MS,
    readOps: record.BYTE_READ_OPS,
    writeOps: record.BYTE_WRITE_OPS,
    computeOps: record.COMPUTE_OPS,
    bytesIn: record.BYTES_IN,
    bytesOut: record.BYTES_OUT,
  }
}
