// `POST /api/v1/explain`: why a query is allowed or denied what it does, when another caller asks it.

import type { Endpoint, Services } from '../endpoint.ts'

/** The endpoint that explains decisions about rights to administrators. */
export function explainEndpoint({ engine }: Services): Endpoint {
  return {
    path: '/api/v1/explain',
    authenticated: true,
    readsBody: true,
    takesLongBodies: true,
    recorded: true,
    methods: { POST: call => engine.explain(call.queryRequest(call.body)) },
  }
}
