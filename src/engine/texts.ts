// Sentences about requests as a whole that all languages share.

/** A fixed phrase of the protocol. */
export const contentionText = 'Transaction was aborted due to detection of concurrent modification.'

/** What became of a write, when the store is away. */
export const unavailableText = {
  'not committed': 'The store of the service is not available now; nothing was written.',
  unknown:
    'The store of the service became unavailable during the commit: it may have been committed, or not.',
} as const
