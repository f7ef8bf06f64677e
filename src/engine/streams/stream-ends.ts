// The reasons why streams end, with the texts of version 4. Version 10 uses the cause.

import { epoch } from '../../base/micros.ts'
import type { StreamEnd } from '../../model/streaming.ts'
import type { Micros } from '../../values/value.ts'

/** The credential lost its right to the stream, by a transaction or at a time. */
export const rightsLost = (txn: Micros): StreamEnd => ({
  cause: 'rights lost',
  code: 'permission denied',
  description: 'Authorization lost during stream evaluation.',
  txn,
})

const sourceGone = (description: string): StreamEnd => ({
  cause: 'source gone',
  code: 'time out',
  description,
  txn: epoch,
})

/** The reasons that are not caused by a transaction. */
export const streamEnds = {
  sourceClosed: sourceGone('Stream was unexpectedly closed by its source.'),
  alreadyClosed: sourceGone('Subscribing to an already closed stream.'),
  tooMany: {
    cause: 'too many streams',
    code: 'too many requests',
    description: 'Too many open streams.',
    txn: epoch,
  },
  replayTooLong: {
    cause: 'replay too long',
    code: 'too many requests',
    description: 'There are too many events to catch up on.',
    txn: epoch,
  },
  failed: {
    cause: 'failed',
    code: 'internal server error',
    description: 'The service met an internal error.',
    txn: epoch,
  },
} as const satisfies Readonly<Record<string, StreamEnd>>
