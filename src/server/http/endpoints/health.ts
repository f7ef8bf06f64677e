// The operator's endpoints, only for the root secret: `GET /api/v1/health` returns the state of the service,
// `POST /api/v1/health/backups` starts a backup, and `POST /api/v1/health/checks` starts an integrity check.

import type { ServiceHealth, TaskKind } from '../../operation/health.ts'
import { type Operation, TaskError } from '../../operation/operation.ts'
import type { Answer } from '../answer.ts'
import { apiTraits, jsonAnswer, MessageError, principalOf } from '../api.ts'
import type { Endpoint, EndpointCall, Services } from '../endpoint.ts'
import { durationBounds } from '../request-meter.ts'

const path = '/api/v1/health'

/** The endpoints of the operator. */
export function healthEndpoints(services: Services, operation: Operation): readonly Endpoint[] {
  const asRoot = (handle: () => Promise<Answer>) => async (call: EndpointCall) => {
    const { isRoot } = await principalOf(call, services)
    if (!isRoot) throw new MessageError('forbidden', 'The health of the service needs the root secret.')
    return handle()
  }
  const starting = (kind: TaskKind) => ({ POST: asRoot(() => start(operation, kind)) })
  return [
    { ...apiTraits, path, methods: { GET: asRoot(async () => jsonAnswer(200, await describe(operation))) } },
    { ...apiTraits, path: `${path}/backups`, methods: starting('backup') },
    { ...apiTraits, path: `${path}/checks`, methods: starting('check') },
  ]
}

async function start(operation: Operation, kind: TaskKind): Promise<Answer> {
  try {
    await operation.start(kind)
  } catch (error) {
    if (error instanceof TaskError) throw new MessageError(error.reason, error.message)
    throw error
  }
  return jsonAnswer(202, { started: kind })
}

async function describe(operation: Operation): Promise<ServiceHealth> {
  return { ...(await operation.state()), duration_bounds: durationBounds }
}
