// Logs why requests failed through no fault of their own. While the store is unavailable, all requests fail for the
// same reason, so one line covers the failures of several seconds.

import type { Clock } from '../base/clock.ts'
import { StoreUnavailableError } from '../storage/store/contract.ts'

/** The required part of the service log. */
interface FailureLogger {
  error(fields: object, text: string): void
}

/** Milliseconds between two log lines about an unavailable store. */
const linesEveryMs = 5_000

/** Returns a function that logs a failure. */
export function failureLog(log: FailureLogger, clock: Pick<Clock, 'elapsedMs'>): (error: unknown) => void {
  let loggedMs = Number.NEGATIVE_INFINITY
  let requests = 0
  return error => {
    if (!(error instanceof StoreUnavailableError)) {
      log.error({ err: error }, 'a request failed')
      return
    }
    requests++
    const nowMs = clock.elapsedMs()
    if (nowMs - loggedMs < linesEveryMs) return
    log.error({ reason: error.message, requests }, 'requests get 503: the store is not available')
    loggedMs = nowMs
    requests = 0
  }
}
