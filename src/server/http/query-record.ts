// From an answered call to a record of the query log.

import { beginningOfJson } from '../../base/json-encoding.ts'
import type { Answer } from './answer.ts'
import type { EndpointCall, Services } from './endpoint.ts'

/** Records one call with the answer to it and the bytes of its body. */
export type RecordCall = (call: EndpointCall, answer: Answer, bytesOut: number) => void

/** Bytes of a long query that its shape is made of: of four bytes at most for each character that a language looks at, and more. */
const shapedBytes = 270_000

const noNames: NonNullable<Answer['named']> = []

/** The way to record calls; undefined when nothing is to be recorded. Runs once per query. */
export function recorder({ queryLog, recordsQueries, log }: Services): RecordCall | undefined {
  if (queryLog === undefined || recordsQueries === false) return undefined
  return (call, answer, bytesOut) => {
    const { request, trace } = call
    const { headers } = request
    try {
      queryLog.record({
        method: request.method,
        headers,
        language: call.protocol.language,
        apiVersion: call.settings?.dialect ?? String(headers['x-faunadb-api-version'] ?? ''),
        query: call.body ?? (call.longBody && beginningOfJson(call.longBody.joined(shapedBytes))),
        bytesIn: call.bytesIn,
        bytesOut,
        status: answer.status,
        costs: answer.metrics,
        database: answer.place,
        tags: call.tags,
        facts: {
          caller: answer.caller,
          address: request.client,
          endpoint: call.endpoint?.path ?? '',
          isSlow: answer.isSlow === true,
          named: answer.named ?? noNames,
          commitTime: (answer.metrics?.byteWriteOps ?? 0) > 0 ? answer.txnTime : undefined,
        },
        fault: answer.fault,
        traceId: trace.traceId,
        spanId: trace.spanId,
      })
    } catch (cause) {
      log.error({ err: cause, traceId: trace.traceId }, 'request not recorded')
    }
  }
}
