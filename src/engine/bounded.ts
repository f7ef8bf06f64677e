// Limits the memory of running queries: their text, their parsed form, and their state while they wait. A query that
// would exceed the limit is rejected.

import { MemoryBudget } from '../base/admission/memory-budget.ts'
import { megabyte } from '../base/bytes.ts'
import { RequestError } from '../base/errors.ts'
import { msg } from '../base/message.ts'
import type { QueryRequest, QueryResponse } from './contract.ts'

/** Bytes of a query in addition to its text: the request, its promises, its response. */
const bytesPerQuery = 8192
/** Bytes for each unit of a query's text: the text and its parsed expression. */
const bytesPerUnit = 16
/**
 * Bytes for each byte of a long body. A long body is sent to the slow lane unparsed. Without a slow lane, this process
 * decodes it to a text.
 */
const bytesPerLongByte = 4

/** The memory limit of a process's queries. */
export function queryMemory(maxMb: number): MemoryBudget {
  const text = msg`Queries under way take too much memory together. Max: ${maxMb} MB.`
  return new MemoryBudget({
    max: maxMb * megabyte,
    refusal: () => new RequestError('too many requests', text),
  })
}

/** Runs a query within the limit. Throws a RequestError if there is no room. */
export function bounded(
  memory: MemoryBudget | undefined,
  { body = '', longBody }: QueryRequest,
  run: () => QueryResponse | Promise<QueryResponse>,
): QueryResponse | Promise<QueryResponse> {
  if (!memory) return run()
  const longBytes = longBody?.length ?? 0
  const release = memory.reserve(bytesPerQuery + body.length * bytesPerUnit + longBytes * bytesPerLongByte)
  const response = run()
  if (response instanceof Promise) return response.finally(release)
  release()
  return response
}
