// `GET /api/v1/principal`: who the presented secret stands for, so that a program that was handed one can tell what it
// is for before it shows anything.

import type { Principal } from '../../../engine/contract.ts'
import { apiTraits, jsonAnswer, principalOf } from '../api.ts'
import type { Endpoint, Services } from '../endpoint.ts'

/** The endpoint that tells callers about themselves. */
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
