// What clients are told when the store that machines share cannot be reached.

import { RequestError } from '../errors.ts'
import { StoreUnavailableError } from '../kv/errors.ts'

/** Throws `cause`, as 503 when it says that the store is away. */
export function rethrow(cause: unknown): never {
  if (cause instanceof StoreUnavailableError) throw new RequestError('service unavailable', cause.message)
  throw cause
}

/** Whether something came to nothing because the store was away: it can be tried again later. */
export function isUnavailable(cause: unknown): boolean {
  return (
    cause instanceof StoreUnavailableError ||
    (cause instanceof RequestError && cause.code === 'service unavailable')
  )
}
