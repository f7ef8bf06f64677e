// Tells the operator why requests failed without a fault of their own. While the store is away all of them do, for the
// same reason: then one line stands for those of some seconds.

import type { Clock } from '../base/clock.ts'
import { StoreUnavailableError } from '../storage/store/contract.ts'

/** The part of the service's own log that is needed here. */
interface FailureLogger {
  error(fields: object, text: string): void
}

/** Milliseconds between two lines about a store that is away. */
const linesEveryMs = 5_000

/** Returns what logs a failure. */
export function failureLog(log: FailureLogger, clock: Pick<Clock, 'elapsedMs'>): (error: unknown) => void {
  let toldMs = Number.NEGATIVE_INFINITY
  let requests = 0
  return error => {
    if (!(error instanceof StoreUnavailableError)) {
      log.error({ err: error }, 'a request failed')
      return
    }
    requests++
    const nowMs = clock.elapsedMs()
    if (nowMs - toldMs < linesEveryMs) return
    log.error({ reason: error.message, requests }, 'requests get 503: the store is not available')
    toldMs = nowMs
    requests = 0
  }
}
