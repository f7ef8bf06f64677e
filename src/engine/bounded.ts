// Queries under way hold memory: their text, what it is parsed into, what they wait with. All of them together have a
// bound, and the one that would pass it is refused.

import { megabyte } from '../base/bytes.ts'
import { RequestError } from '../base/errors.ts'
import { MemoryBound } from '../base/memory-bound.ts'
import { msg } from '../base/message.ts'
import type { QueryRequest, QueryResponse } from './contract.ts'

/** Bytes that a query holds beside its text: the request itself, promises, a response on its way. */
const bytesPerQuery = 8192
/** Bytes for each unit of a query's text: the text, and the expression that it is parsed into. */
const bytesPerUnit = 16
/** A long body goes on as it came and is parsed in the slow lane; where there is none, it becomes a text here. */
const bytesPerLongByte = 4

/** The bound on the queries of a process. */
export function queryMemory(maxMb: number): MemoryBound {
  const text = msg`Queries under way take too much memory together. Max: ${maxMb} MB.`
  return new MemoryBound(maxMb * megabyte, () => new RequestError('too many requests', text))
}

/** Runs a query within the bound. Throws a RequestError when there is no room. */
export function bounded(
  memory: MemoryBound | undefined,
  { body = '', longBody }: QueryRequest,
  run: () => QueryResponse | Promise<QueryResponse>,
): QueryResponse | Promise<QueryResponse> {
  if (!memory) return run()
  const longBytes = longBody?.length ?? 0
  const release = memory.hold(bytesPerQuery + body.length * bytesPerUnit + longBytes * bytesPerLongByte)
  const response = run()
  if (response instanceof Promise) return response.finally(release)
  release()
  return response
}
