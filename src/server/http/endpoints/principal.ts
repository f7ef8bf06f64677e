// `GET /api/v1/principal` returns the identity and the rights of the presented secret. A program such as the dashboard
// uses it to find out what it may show.

import type { Principal } from '../../../engine/contract.ts'
import { apiTraits, jsonAnswer, principalOf } from '../api.ts'
import type { Endpoint, Services } from '../endpoint.ts'

/** The endpoint that describes its caller. */
export function principalEndpoint(services: Services): Endpoint {
  return {
    ...apiTraits,
    path: '/api/v1/principal',
    methods: {
      GET: async call => jsonAnswer(200, describe(await principalOf(call, services), services)),
    },
  }
}

function describe({ place, role, isRoot, identity }: Principal, { queryLog }: Services): object {
  return {
    database: place.names,
    role: role ?? null,
    is_root: isRoot,
    identity: identity ?? null,
    region_group: queryLog?.regionGroup ?? null,
  }
}
