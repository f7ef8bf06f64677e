// The response to a query that takes more memory than a process of the slow lane has.

import { RequestError } from '../errors.ts'

/** `maxMb`: what it had, in megabytes. */
export function outOfMemory(maxMb: number): RequestError {
  return new RequestError('bad request', `Query takes too much memory. Max: ${maxMb} MB.`)
}
