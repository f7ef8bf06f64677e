// What the operator sees of the service, for the root secret alone: `GET /api/v1/health` tells how it stands,
// `POST /api/v1/health/backups` starts a backup and `POST /api/v1/health/checks` a check of what is stored.

import type { ServiceHealth, TaskKind } from '../../operation/health.ts'
import { type Operation, TaskRefused } from '../../operation/operation.ts'
import type { Answer } from '../answer.ts'
import type { EndpointCall } from '../call.ts'
import type { Endpoint, Services } from '../endpoint.ts'
import { edgeErrorBody, jsonAnswer, MessageError, refusing } from '../message-answer.ts'
import { durationBounds } from '../request-meter.ts'

const path = '/api/v1/health'

/** The endpoints of the operator. */
export function healthEndpoints(services: Services, operation: Operation): readonly Endpoint[] {
  const asRoot = (handle: () => Promise<Answer>) => (call: EndpointCall) =>
    refusing(async () => {
      const principal = await services.engine.whoIs(call.request.headers.authorization)
      if (!principal)
        throw new MessageError('unauthorized', 'The credential is unknown, has expired or was revoked.')
      if (!principal.isRoot)
        throw new MessageError('forbidden', 'The health of the service needs the root secret.')
      return handle()
    })
  const shared = { authenticated: false, errorBody: edgeErrorBody } as const
  const starting = (kind: TaskKind) => ({ POST: asRoot(() => start(operation, kind)) })
  return [
    { ...shared, path, methods: { GET: asRoot(async () => jsonAnswer(200, await describe(operation))) } },
    { ...shared, path: `${path}/backups`, methods: starting('backup') },
    { ...shared, path: `${path}/checks`, methods: starting('check') },
  ]
}

async function start(operation: Operation, kind: TaskKind): Promise<Answer> {
  try {
    await operation.start(kind)
  } catch (error) {
    if (error instanceof TaskRefused) throw new MessageError(error.reason, error.message)
    throw error
  }
  return jsonAnswer(202, { started: kind })
}

async function describe(operation: Operation): Promise<ServiceHealth> {
  return { ...(await operation.state()), duration_bounds: durationBounds }
}
