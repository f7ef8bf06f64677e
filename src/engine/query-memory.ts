// Limits the memory of waiting queries. While this process evaluates a query, no other query can begin, so the memory of
// a query is counted only when it begins to wait: for the slow lane, a password check, or its commit. At the limit, the
// largest waiting query of the owner with the most memory is rejected.

import { MemoryBudget } from '../base/admission/memory-budget.ts'
import type { Ticket } from '../base/admission/ticket.ts'
import { megabyte } from '../base/bytes.ts'
import { msg } from '../base/message.ts'
import { RequestError } from '../base/request-errors.ts'
import type { QueryRequest, ResponseOrPromise } from './engine-contract.ts'
import type { EngineOptions } from './engine-options.ts'

/** Estimated bytes of a query without its text: the request, its promises, its response. */
const bytesPerQuery = 8192
/** Estimated bytes of the text and of the parsed expression, for each UTF-16 code unit of the text. */
const bytesPerUnit = 16
/**
 * Estimated bytes for each byte of a long body ({@link QueryRequest.longBody}) if there is no slow lane: this process
 * decodes the body to a text. A process with a slow lane forwards the bytes as they are.
 */
const bytesPerBodyByte = 4
/** Part of the memory limit that the queries of one owner may use. */
const ownerPart = 1 / 2

export function queryMemory(maxMb: number): MemoryBudget {
  const text = msg`Queries under way take too much memory together. Max: ${maxMb} MB.`
  const rejection = () => new RequestError('too many requests', text)
  return new MemoryBudget({ max: maxMb * megabyte, groupPart: ownerPart, rejection })
}

/** Estimated bytes of a query with a text of `units` UTF-16 code units. */
export function bytesOfQuery(units: number): number {
  return bytesPerQuery + units * bytesPerUnit
}

/** While the query waits, its memory is counted for the owner of `ticket`. */
export function withQueryMemory(
  { memory, slowLane }: EngineOptions,
  { body = '', longBody }: QueryRequest,
  ticket: Ticket,
  run: () => ResponseOrPromise,
): ResponseOrPromise {
  const response = run()
  if (!(response instanceof Promise)) return response
  const longBytes = (longBody?.length ?? 0) * (slowLane === undefined ? bytesPerBodyByte : 1)
  const release = ticket.hold(memory, bytesOfQuery(body.length) + longBytes)
  return response.finally(release)
}
