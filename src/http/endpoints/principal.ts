// `GET /api/v1/principal`: who the presented secret stands for, so that a program that was handed one can tell what it
// is for before it shows anything.

import type { Principal } from '../../engine/contract.ts'
import type { EndpointCall } from '../call.ts'
import type { Endpoint, Services } from '../endpoint.ts'
import { edgeErrorBody, jsonAnswer, MessageError, refusing } from '../message-answer.ts'

/** The endpoint that tells callers about themselves. */
export function principalEndpoint(services: Services): Endpoint {
  const tell = async (call: EndpointCall) => {
    const principal = await services.engine.whoIs(call.request.headers.authorization)
    if (!principal)
      throw new MessageError('unauthorized', 'The credential is unknown, has expired or was revoked.')
    return jsonAnswer(200, describe(principal, services))
  }
  return {
    path: '/api/v1/principal',
    authenticated: false,
    errorBody: edgeErrorBody,
    methods: { GET: call => refusing(() => tell(call)) },
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
