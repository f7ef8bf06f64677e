// The state of the service. `GET /ping` needs no secret. The operator's endpoints are only for the root secret: `GET
// /api/v1/health` returns the state, `POST /api/v1/health/backups` starts a backup, and `POST /api/v1/health/checks`
// starts an integrity check.

import { RequestError } from '../../../base/request-errors.ts'
import { within } from '../../../base/timers.ts'
import type { TaskKind } from '../../operation/health.ts'
import { type Operation, TaskError } from '../../operation/operation.ts'
import { type Answer, errorAnswer, noQueryMetrics } from '../answer.ts'
import { ApiError, apiEndpoint } from '../api.ts'
import type { Endpoint, EndpointCall, Services } from '../endpoint.ts'
import { durationBounds } from '../request-meter.ts'
import { queryParameter } from '../url.ts'

const path = '/api/v1/health'

export function healthEndpoints(services: Services, operation: Operation): readonly Endpoint[] {
  const access = { access: 'root', forbidden: 'The health of the service needs the root secret.' } as const
  const starting = (kind: TaskKind) => ({ postStatus: 202, methods: { POST: () => start(operation, kind) } })
  const state = async () => ({ ...(await operation.state()), duration_bounds: durationBounds })
  return [
    apiEndpoint(services, { ...access, path, methods: { GET: state } }),
    apiEndpoint(services, { ...access, path: `${path}/backups`, ...starting('backup') }),
    apiEndpoint(services, { ...access, path: `${path}/checks`, ...starting('check') }),
  ]
}

async function start(operation: Operation, kind: TaskKind): Promise<object> {
  try {
    await operation.start(kind)
  } catch (error) {
    if (error instanceof TaskError) throw new ApiError(error.reason, error.message)
    throw error
  }
  return { started: kind }
}

/** Default time limit in milliseconds, by what the ping checks. */
const scopeTimeoutMs = { all: 5000, write: 1000, read: 500, node: 100 } as const

type Scope = keyof typeof scopeTimeoutMs

/** Every other text, such as `node`, only checks whether this process responds. */
const scopes: ReadonlyMap<string, Scope> = new Map([
  ['all', 'all'],
  ['write', 'write'],
  ['global', 'write'],
  ['read', 'read'],
  ['local', 'read'],
])

/**
 * Checks whether the service responds, and whether it can read or write. In the notice period before a shutdown,
 * `/ping` fails, but all other requests still succeed.
 */
export function pingEndpoint(services: Services): Endpoint {
  const handler = (call: EndpointCall) => ping(services, call)
  return { path: '/ping', methods: { GET: handler, HEAD: handler } }
}

async function ping(services: Services, call: EndpointCall): Promise<Answer> {
  const target = call.request.url
  const scope = scopes.get(queryParameter(target, 'scope') ?? 'write') ?? 'node'
  const timeoutMs = timeoutOf(queryParameter(target, 'timeout')) ?? scopeTimeoutMs[scope]
  const { engine, log, notice, ownFault } = services
  if (notice.aborted) return errorAnswer('service unavailable', 'The service is about to stop', engine.now())
  const fault = scope === 'node' ? undefined : ownFault?.()
  if (fault !== undefined) return errorAnswer('service unavailable', fault, engine.now())
  const outcome = await outcomeOf(services, scope, timeoutMs)
  if (outcome === 'fine') {
    const body = `{"resource":"Scope ${scope} is OK"}`
    return { status: 200, body, txnTime: engine.now(), metrics: noQueryMetrics }
  }
  if (outcome === 'timed out') {
    const text = `Scope ${scope} timed out after ${timeoutMs} milliseconds`
    return errorAnswer('time out', text, engine.now())
  }
  log.warn({ err: outcome, scope }, 'ping failed')
  return errorAnswer('time out', `Scope ${scope} is unavailable`, engine.now())
}

/** Returns `fine`, `timed out`, or the cause of a failure. */
async function outcomeOf({ engine, timers }: Services, scope: Scope, timeoutMs: number): Promise<unknown> {
  const late = () => new RequestError('time out', 'The ping took too long.')
  try {
    if (timeoutMs <= 0) throw late()
    await within(engine.ping(scope), timeoutMs, timers, late)
    return 'fine'
  } catch (cause) {
    return cause instanceof RequestError && cause.code === 'time out' ? 'timed out' : cause
  }
}

/** Parses whole milliseconds; undefined for an invalid text. */
function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}
