// Converts errors of an unavailable shared store to responses.

import { RequestError } from '../base/errors.ts'
import { StoreUnavailableError } from '../storage/kv/errors.ts'

/** Throws `cause`, converted to 503 when the store is unavailable. */
export function rethrow(cause: unknown): never {
  if (cause instanceof StoreUnavailableError) throw new RequestError('service unavailable', cause.message)
  throw cause
}

/** Returns whether an operation failed because the store was unavailable, so that it can be retried later. */
export function isUnavailable(cause: unknown): boolean {
  return (
    cause instanceof StoreUnavailableError ||
    (cause instanceof RequestError && cause.code === 'service unavailable')
  )
}
