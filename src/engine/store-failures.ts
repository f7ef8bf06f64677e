// Converts errors of the store to the errors that clients get. Queries and imports use the same texts.

import { RequestError } from '../base/request-errors.ts'
import { ContendedTransaction, StoreUnavailableError } from '../storage/store/store-contract.ts'

/** The protocol defines this text. */
const contentionText = 'Transaction was aborted due to detection of concurrent modification.'

const unavailableText = {
  'not committed': 'The store of the service is not available now; nothing was written.',
  unknown:
    'The store of the service became unavailable during the commit: it may have been committed, or not.',
} as const

/** Returns undefined for errors that are no expected failures of the store. */
export function storeFailure(error: unknown): RequestError | undefined {
  if (error instanceof ContendedTransaction) {
    return new RequestError('contended transaction', contentionText)
  }
  if (error instanceof StoreUnavailableError) {
    return new RequestError('service unavailable', unavailableText[error.outcome])
  }
  return undefined
}
