// What a process serves before it can serve: 503 for everything, `/ping` too, with how far it has come. Load balancers and
// people see that it lives, and where it stands.

import { requestErrorStatus } from '../../base/errors.ts'
import { errorBody } from './answer.ts'
import { Listener, type ListenerOptions } from './listener.ts'
import { jsonType } from './response-headers.ts'

const startingStatus = requestErrorStatus['service unavailable']
/** Seconds after which a client may ask again. */
const retryAfterSeconds = 1

/** Serves that; nothing listens yet. `progress`: a sentence for clients. */
export function createStartingService(progress: () => string, options: ListenerOptions): Listener {
  return new Listener(exchange => {
    const body = errorBody('service unavailable', `The service is starting: ${progress()}.`)
    const bytes = Buffer.byteLength(body)
    exchange.closeAfterwards()
    const type = ['content-type', jsonType, 'content-length', bytes]
    exchange.respond(startingStatus, [...type, 'retry-after', retryAfterSeconds], body, bytes)
  }, options)
}
