// `GET /error` always fails: operators use it to see that a failure is answered as it should be. Strangers may ask it, so it
// leaves no line in the service's log.

import { errorAnswer, internalErrorText } from '../answer.ts'
import type { Endpoint, Services } from '../endpoint.ts'

/** The endpoint that fails. */
export function errorEndpoint({ engine }: Services): Endpoint {
  return {
    path: '/error',
    methods: { GET: () => errorAnswer('internal server error', internalErrorText, engine.now()) },
  }
}
