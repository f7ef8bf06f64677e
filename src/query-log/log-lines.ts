// Reads the complete lines of a segment (a file of the query log) in blocks, and parses their records.

import { open } from 'node:fs/promises'
import { newline } from '../values/json-scan.ts'
import { type ExportedRecord, isOfDashboard } from './exported-record.ts'
import { readFacts } from './facts.ts'
import type { AggregateInput } from './log-aggregate.ts'
import { isTrail, splitLine } from './ownership.ts'
import { ifThere } from './segment-files.ts'

const blockBytes = 524_288

/**
 * Yields the complete lines of a file in blocks. A block is valid until the next block is requested. Yields nothing if
 * the file no longer exists. Skips an incomplete line at the end of the file. Also skips a line that is longer than a
 * block, because every valid record is shorter. Throws the reason of `signal` once the signal is aborted.
 */
export async function* lineBlocks(
  path: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<Buffer, void, undefined> {
  const file = await ifThere(open(path))
  if (file === undefined) return
  try {
    const block = Buffer.allocUnsafe(blockBytes)
    let held = 0
    for (;;) {
      signal?.throwIfAborted()
      const { bytesRead } = await file.read(block, held, block.length - held, null)
      if (bytesRead === 0) return
      const filled = held + bytesRead
      const end = block.lastIndexOf(newline, filled - 1) + 1
      if (end > 0) yield block.subarray(0, end)
      held = end === 0 && filled === block.length ? 0 : filled - end
      block.copyWithin(0, end, filled)
    }
  } finally {
    await file.close()
  }
}

/** Yields the lines of a segment in groups; see {@link lineBlocks}. */
export async function* linesOf(path: string, signal?: AbortSignal): AsyncGenerator<readonly string[]> {
  for await (const block of lineBlocks(path, signal))
    yield block.toString('utf8', 0, block.length - 1).split('\n')
}

/**
 * A line of the log. It consists of a record in the export format, a trail (the ids of the record's database and its
 * ancestors, see ownership.ts) and facts.
 */
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

/** Returns the time of a record, in milliseconds since the Unix epoch. */
export function timeOf({ TS }: ExportedRecord): number {
  return Date.parse(`${TS.slice(0, 10)}T${TS.slice(11, 23)}Z`)
}

let latestMinute = { text: '', time: Number.NaN }

/** Returns the start of the minute of a record. Most records are in the minute of the preceding record. */
function minuteOf({ TS }: ExportedRecord): number {
  const text = TS.slice(0, 16)
  if (text !== latestMinute.text) latestMinute = { text, time: Date.parse(`${text.replace(' ', 'T')}Z`) }
  return latestMinute.time
}

/** True for facts without names and errors. Such facts end with the flag of the slow lane and are not parsed. */
function isPlain(facts: string): boolean {
  return facts.endsWith(',0]') || facts.endsWith(',1]')
}

/** Returns the parts of a record that aggregates use. */
export function summed({ facts, record, trail }: LogLine): AggregateInput {
  const read = facts === undefined || isPlain(facts) ? undefined : readFacts(facts, record.FQL_SHAPE)
  const status = Number(record.RESPONSE_CODE)
  return {
    trail,
    database: record.DATABASE,
    isOfDashboard: isOfDashboard(record),
    time: minuteOf(record),
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
