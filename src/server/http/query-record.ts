// Makes a record of the query log from a call and its answer.

import { beginningOfJson } from '../../base/json-encoding.ts'
import type { Answer } from './answer.ts'
import type { EndpointCall, Services } from './endpoint.ts'

/** Records a call with its answer and the bytes of the response's body. */
export type RecordCall = (call: EndpointCall, answer: Answer, bytesOut: number) => void

/**
 * Bytes of a long query that its shape is computed from: enough for the characters that a language reads, at up to four
 * bytes each.
 */
const shapedBytes = 270_000

const noNames: NonNullable<Answer['named']> = []

/** The function that records calls; undefined when requests are not recorded. The function runs once per query. */
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
      log.error({ err: cause, traceId: trace.traceId }, 'cannot record the request')
    }
  }
}
