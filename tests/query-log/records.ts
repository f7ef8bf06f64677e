// Requests as plain data, and segments that contain their records.

import { micros } from '../../src/base/micros.ts'
import { version4 } from '../../src/fql4/language.ts'
import { type RecordedAnswer, type RecordedCall, RecordWriter } from '../../src/query-log/record-writer.ts'
import { segmentPath } from '../../src/query-log/segment-files.ts'
import { SegmentWriter } from '../../src/query-log/segment-writer.ts'
import type { Micros } from '../../src/values/value.ts'
import type { ObservedRequest } from './old-lines.ts'

/** A request to the database `app` without anything special. */
export const plainRequest: ObservedRequest = {
  method: 'POST',
  headers: {},
  language: '4',
  apiVersion: '4',
  query: undefined,
  bytesIn: 0,
  bytesOut: 0,
  status: 200,
  costs: undefined,
  database: { names: ['app'], ids: [] },
  tags: [],
  traceId: '0'.repeat(32),
  spanId: '1'.repeat(16),
}

/** The arguments of `record` for a request. */
export function recorded(request: ObservedRequest): [RecordedCall, RecordedAnswer, number] {
  const { database: place, facts, fault, language, query, spanId, traceId } = request
  const call: RecordedCall = {
    request: { method: request.method, headers: request.headers, client: facts?.address ?? '' },
    protocol: { language },
    settings: { dialect: request.apiVersion },
    endpoint: { path: facts?.endpoint ?? '' },
    body: query,
    longBody: undefined,
    bytesIn: request.bytesIn,
    tags: request.tags,
    trace: { traceId, spanId },
  }
  const answer: RecordedAnswer = {
    status: request.status,
    metrics: request.costs,
    place,
    caller: facts?.caller,
    named: facts?.named,
    isSlow: facts?.isSlow === true,
    ...(facts?.commitTime !== undefined && { txnTime: facts.commitTime }),
    fault,
  }
  return [call, answer, request.bytesOut]
}

/** A record of a written segment. */
export interface TimedRequest {
  readonly time: Micros
  readonly request: ObservedRequest
}

/** Writes a segment with the records of some requests in the order of their times, and returns its path. */
export async function writeSegment(
  folder: string,
  writer: string,
  requests: readonly TimedRequest[],
  wordings: ConstructorParameters<typeof RecordWriter>[1] = { '4': version4 },
): Promise<string> {
  let now = requests[0]?.time ?? micros(0)
  const path = segmentPath(folder, now, writer)
  const segments = new SegmentWriter({
    folder,
    regionGroup: 'us-std',
    writer,
    clock: { now: () => now, elapsedMs: () => now / 1000 },
    timers: { after: () => () => {}, every: () => () => {} },
    segmentBytes: Number.MAX_SAFE_INTEGER,
    segmentMs: Number.MAX_SAFE_INTEGER,
    bufferBytes: Number.MAX_SAFE_INTEGER,
    onLoss: (_, cause) => {
      throw cause
    },
  })
  const records = new RecordWriter(segments, wordings)
  for (const { time, request } of requests) {
    now = time
    records.write(...recorded(request))
  }
  await segments.close()
  return path
}
