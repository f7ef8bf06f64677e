// `POST /` evaluates the JSON body as a query; `GET /?q=` evaluates its parameter and may not write.

import type { Endpoint, Services } from '../endpoint.ts'
import { queryParameter } from '../url.ts'

const inGetRequests = { readOnly: 'get requests' } as const

/** The query endpoint. Its POST is the hot path of the service. */
export function queryEndpoint({ engine }: Services): Endpoint {
  return {
    path: '/',
    authenticated: true,
    readsBody: true,
    recorded: true,
    methods: {
      GET: call => {
        const query = queryParameter(call.request.url, 'q')
        call.body = query === '' ? undefined : query
        return engine.query(call.queryRequest(call.body, inGetRequests))
      },
      POST: call => engine.query(call.queryRequest(call.body)),
    },
  }
}
