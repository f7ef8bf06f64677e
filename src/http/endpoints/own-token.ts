// `GET /tokens/self`: the caller's own token document. The one route kept of the REST interface that came before
// the query language; clients use it to find out whether a session is still alive.

import type { Endpoint, Services } from '../endpoint.ts'

export function ownTokenEndpoint({ engine }: Services): Endpoint {
  return {
    path: '/tokens/self',
    authenticated: true,
    methods: { GET: call => engine.ownToken(call.queryRequest(undefined)) },
  }
}
