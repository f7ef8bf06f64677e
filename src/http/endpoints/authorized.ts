// `GET /authorized`: which account and database the secret belongs to.

import type { Endpoint, Services } from '../endpoint.ts'

export function authorizedEndpoint({ engine }: Services): Endpoint {
  return {
    path: '/authorized',
    authenticated: true,
    methods: { GET: call => engine.authorized(call.queryRequest(undefined)) },
  }
}
