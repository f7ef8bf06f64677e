// `GET /ping`: does the service answer, and can it read or write? Needs no secret. It says no from the moment at which the
// service is about to stop, while everything else goes on.

import { RequestError } from '../../../base/errors.ts'
import { within } from '../../../base/timers.ts'
import { type Answer, errorAnswer, idleMetrics } from '../answer.ts'
import type { Endpoint, EndpointCall, Services } from '../endpoint.ts'
import { queryParameter } from '../url.ts'

/** How long each scope may take when the request does not say, in milliseconds. */
const scopeTimeoutMs = { all: 5000, write: 1000, read: 500, node: 100 } as const

type Scope = keyof typeof scopeTimeoutMs

const scopes: ReadonlyMap<string, Scope> = new Map([
  ['all', 'all'],
  ['write', 'write'],
  ['global', 'write'],
  ['read', 'read'],
  ['local', 'read'],
])

export function pingEndpoint(services: Services): Endpoint {
  const handler = (call: EndpointCall) => ping(services, call)
  return { path: '/ping', methods: { GET: handler, HEAD: handler } }
}

async function ping(services: Services, call: EndpointCall): Promise<Answer> {
  const target = call.request.url
  const scope = scopes.get(queryParameter(target, 'scope') ?? 'write') ?? 'node'
  const timeoutMs = timeoutOf(queryParameter(target, 'timeout')) ?? scopeTimeoutMs[scope]
  const { engine, log, notice, ownFault } = services
  if (notice?.aborted) return errorAnswer('service unavailable', 'The service is about to stop', engine.now())
  const fault = scope === 'node' ? undefined : ownFault?.()
  if (fault !== undefined) return errorAnswer('service unavailable', fault, engine.now())
  const outcome = await outcomeOf(services, scope, timeoutMs)
  if (outcome === 'fine') {
    const body = `{"resource":"Scope ${scope} is OK"}`
    return { status: 200, body, txnTime: engine.now(), metrics: idleMetrics }
  }
  if (outcome === 'timed out') {
    const text = `Scope ${scope} timed out after ${timeoutMs} milliseconds`
    return errorAnswer('time out', text, engine.now())
  }
  log.warn({ err: outcome, scope }, 'ping failed')
  return errorAnswer('time out', `Scope ${scope} is unavailable`, engine.now())
}

/** Asks the engine, but waits no longer than `timeoutMs`; anything else than the two words is why it failed. */
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

/** Whole milliseconds; anything else counts as absent. */
function timeoutOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}
