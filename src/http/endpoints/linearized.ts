// `POST /linearized`: a query whose reads are strictly serializable even when it writes nothing.

import type { Endpoint, Services } from '../endpoint.ts'

const throughTheLog = { linearized: true } as const

export function linearizedEndpoint({ engine }: Services): Endpoint {
  return {
    path: '/linearized',
    authenticated: true,
    readsBody: true,
    takesLongBodies: true,
    recorded: true,
    methods: { POST: call => engine.query(call.queryRequest(call.body, throughTheLog)) },
  }
}
