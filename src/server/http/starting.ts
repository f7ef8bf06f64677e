// Responds for a process that is still starting: every path, even `/ping`, gets 503 with the progress, which shows load
// balancers and people that the process is alive.

import { requestErrors } from '../../base/request-errors.ts'
import { errorBody, jsonType } from './answer.ts'
import { Listener, type ListenerOptions } from './listener.ts'

const startingStatus = requestErrors['service unavailable'].status
/** Value of `retry-after`, in seconds. */
const retryAfterSeconds = 1

/** The returned listener does not listen yet. `progress` returns a clause for the message to clients. */
export function createStartingService(progress: () => string, options: ListenerOptions): Listener {
  return new Listener(exchange => {
    const body = errorBody('service unavailable', `The service is starting: ${progress()}.`)
    const bytes = Buffer.byteLength(body)
    exchange.closeAfterwards()
    const type = ['content-type', jsonType, 'content-length', bytes]
    exchange.respond(startingStatus, [...type, 'retry-after', retryAfterSeconds], body, bytes)
  }, options)
}
