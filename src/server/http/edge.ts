// The steps of a request at the edge (the HTTP layer around the endpoints), for all endpoints and both HTTP versions:
//
//     preflight? → headers → tags → method → body → limit of running requests → handler → answer
//
// Errors of handlers become answers here. An internal error is logged with its cause, which the client does not see. A
// preflight of a browser (CORS) allows requests from every page, because access depends on the secret, not on the page.

import { MemoryBudget } from '../../base/admission/memory-budget.ts'
import { ownerOfDatabase } from '../../base/admission/ticket.ts'
import { limits } from '../../base/limits.ts'
import { Message, messageOf, msg, own } from '../../base/message.ts'
import { secondsPerDay } from '../../base/micros.ts'
import { RequestError } from '../../base/request-errors.ts'
import { LongBody } from '../../engine/engine-contract.ts'
import { storeFailure } from '../../engine/store-failures.ts'
import { type Answer, errorAnswer, internalErrorText } from './answer.ts'
import { ApiError } from './api.ts'
import { type Endpoint, EndpointCall, type Handler, type Services } from './endpoint.ts'
import type { Exchange } from './exchange.ts'
import { bodyText, readBody } from './request-body.ts'
import { parseTags, traceOf } from './request-context.ts'
import { invalidHeader } from './request-headers.ts'
import type { ResponseContext } from './response-headers.ts'
import { discardBody, ResponseWriter } from './response-writer.ts'
import { TurnEnd } from './turn-end.ts'

const edgeLimits = {
  /** Maximum number of bytes of the incomplete request bodies of all clients in memory; own limit. */
  bufferedBodyBytesMax: 268_435_456,
  /** Minimum number of bytes of a request body that must arrive in each time window; own limit. */
  bodyPaceBytes: 32_768,
  /** Length of the time window for {@link bodyPaceBytes} in milliseconds; own limit. */
  bodyPaceMs: 20_000,
  /** Maximum number of unread bytes of all responses together; own limit. */
  unreadResponseBytesMax: 268_435_456,
  /** Minimum number of bytes of a response that a client must read in each time window; own limit. */
  unreadPaceBytes: 32_768,
  /** Length of the time window for {@link unreadPaceBytes} in milliseconds; own limit. */
  unreadPaceMs: 60_000,
} as const

export interface EdgeOptions extends ResponseContext {
  /**
   * Maximum number of running requests, without those that have not arrived completely. Further requests are rejected
   * with 429, except those of owners below their fair part (see {@link MemoryBudget.admits}).
   */
  readonly pendingRequestsMax: number
  /** Tests replace the limit of this file. */
  readonly unreadResponseBytesMax?: number
}

/** The errors for bodies that could not be read. */
const bodyErrors = {
  'too large': ['request too large', 'Request entity is too large'],
  'too slow': ['request timeout', 'Client timed out.'],
  'no room': ['too many requests', 'Too many unfinished requests'],
} as const

export class Edge {
  readonly #services: Services
  /** Running requests of each owner. They are never evicted. */
  readonly #running: MemoryBudget
  readonly #bodies: MemoryBudget
  readonly #writer: ResponseWriter
  /** Answers of this turn of the event loop, sent together at its end. */
  readonly #answers: TurnEnd<EndpointCall>

  constructor(services: Services, options: EdgeOptions) {
    this.#services = services
    this.#answers = new TurnEnd(calls => {
      for (const call of calls) {
        call.release?.()
        this.#send(call, call.answer as Answer)
      }
      for (const call of calls) this.#record(call, call.answer as Answer)
    }, services.clock)
    this.#running = new MemoryBudget({ max: options.pendingRequestsMax })
    services.meter.inFlight = () => this.#running.held
    const { clock, meter, timers } = services
    const pace = (windowMs: number, amount: number) => ({ windowMs, amount, clock, timers })
    const bodyPace = pace(edgeLimits.bodyPaceMs, edgeLimits.bodyPaceBytes)
    this.#bodies = new MemoryBudget({ max: edgeLimits.bufferedBodyBytesMax, pace: bodyPace })
    const unreadPace = pace(edgeLimits.unreadPaceMs, edgeLimits.unreadPaceBytes)
    const unreadMax = options.unreadResponseBytesMax ?? edgeLimits.unreadResponseBytesMax
    const unread = new MemoryBudget({ max: unreadMax, pace: unreadPace })
    this.#writer = new ResponseWriter(options, unread, { meter, timers })
  }

  /** Never throws. Always responds, if the client is still connected. */
  serve(endpoint: Endpoint, request: Exchange, parameters: Readonly<Record<string, string>>): void {
    const trace = traceOf(request.headers.traceparent as string | undefined, this.#services.random)
    const call = new EndpointCall(request, parameters, trace)
    call.startedMs = this.#services.clock.elapsedMs()
    if (request.method === 'OPTIONS' && request.headers.origin !== undefined) {
      this.#sendNow(call, preflightAnswer(endpoint))
      return
    }
    call.endpoint = endpoint
    const rejection = this.#readHeaders(call)
    if (rejection !== undefined) {
      this.#sendNow(call, rejection)
      return
    }
    const handler = handlerOf(endpoint, request.method)
    if (handler !== undefined && endpoint.readsBody && request.method !== 'GET') {
      this.#runWithBody(call, endpoint, handler)
      return
    }
    // No handler reads this body, so it is discarded as it arrives.
    request.body?.resume()
    this.#run(call, handler ?? (() => this.#wrongMethod(endpoint, call)))
  }

  #readHeaders(call: EndpointCall): Answer | undefined {
    const { headers } = call.request
    const { protocol } = call
    const settings = protocol.readSettings(headers)
    if (settings instanceof Message) {
      // Unlike the response to invalid tags, this response has no transaction time and no metrics.
      const { metrics: _metrics, txnTime: _txnTime, ...answer } = this.#error(call, 'bad request', settings)
      return answer
    }
    call.settings = settings
    const tagHeader = headers[protocol.tagHeader] as string | undefined
    if (tagHeader === undefined) return undefined
    const tags = parseTags(tagHeader)
    if (typeof tags !== 'string') {
      call.tags = tags
      return undefined
    }
    // Without `requestError`, the body is not always indented (response-headers.ts).
    const { requestError: _requestError, ...answer } = this.#error(
      call,
      'bad request',
      invalidHeader(protocol.tagHeader, own(tags)),
    )
    return answer
  }

  #runWithBody(call: EndpointCall, endpoint: Endpoint, handler: Handler): void {
    let unauthorized: Answer | undefined
    const admit = async () => {
      const { database, ...answer } = await this.#services.engine.authorized(
        call.queryRequest(undefined),
        call.ticket,
      )
      if (answer.status === 200) return database === undefined ? undefined : ownerOfDatabase(database)
      unauthorized = answer
      return undefined
    }
    const bytesMax = endpoint.bodyBytesMax ?? limits.requestBodyBytesMax
    const rules = endpoint.authenticated ? { bytesMax, admit } : { bytesMax }
    readBody(call.request, rules, this.#bodies, outcome => {
      if (typeof outcome !== 'string') {
        call.bytesIn = outcome.length
        if (outcome instanceof LongBody && endpoint.takesLongBodies) call.longBody = outcome
        else call.body = bodyText(call.request, outcome)
        this.#run(call, handler)
      } else if (outcome !== 'aborted') {
        // If the rest of the body has not arrived yet, the connection is closed after the response.
        if (!call.request.isComplete) call.request.closeAfterwards()
        const [code, description] = outcome === 'rejected' ? [] : bodyErrors[outcome]
        this.#sendNow(call, code ? this.#error(call, code, description) : (unauthorized as Answer))
      }
    })
  }

  #run(call: EndpointCall, handler: Handler): void {
    if (!this.#running.admits(call.ticket.owner, 1)) {
      this.#sendNow(call, this.#error(call, 'too many requests', 'Too many pending requests'))
      return
    }
    try {
      const answer = handler(call)
      if (answer instanceof Promise) {
        // Other requests can begin only while a request waits.
        call.release = call.ticket.count(this.#running)
        call.request.onClose(() => call.ticket.noteDisconnect())
        answer.then(
          resolved => this.#sendAtTurnEnd(call, resolved),
          cause => this.#sendAtTurnEnd(call, this.#failed(call, cause)),
        )
      } else this.#sendAtTurnEnd(call, answer)
    } catch (cause) {
      this.#sendAtTurnEnd(call, this.#failed(call, cause))
    }
  }

  #sendAtTurnEnd(call: EndpointCall, answer: Answer): void {
    call.answer = answer
    this.#answers.add(call)
  }

  #sendNow(call: EndpointCall, answer: Answer): void {
    this.#send(call, answer)
    this.#record(call, answer)
  }

  #send(call: EndpointCall, answer: Answer): void {
    try {
      if (this.#services.stopping.aborted) call.request.closeAfterwards()
      call.bytesOut = this.#writer.write(call, answer)
    } catch (cause) {
      this.#services.log.error({ err: cause, traceId: call.trace.traceId }, 'cannot write the response')
      discardBody(answer)
      call.request.abort()
    }
  }

  /** Records and counts a request whose response has been written. */
  #record(call: EndpointCall, answer: Answer): void {
    const { bytesIn, bytesOut, endpoint, startedMs, trace } = call
    if (bytesOut === undefined) return
    const { clock, log, meter, queryLog, recordsQueries } = this.#services
    try {
      if (recordsQueries && endpoint?.recorded) queryLog?.record(call, answer, bytesOut)
    } catch (cause) {
      log.error({ err: cause, traceId: trace.traceId }, 'cannot record the request')
    }
    meter.answered(answer, bytesIn, bytesOut, clock.elapsedMs() - startedMs)
  }

  /**
   * Error for a method that the endpoint does not have; 401 if the endpoint needs a secret and the secret is invalid.
   */
  async #wrongMethod(endpoint: Endpoint, call: EndpointCall): Promise<Answer> {
    if (endpoint.authenticated) {
      const answer = await this.#services.engine.authorized(call.queryRequest(undefined), call.ticket)
      if (answer.status !== 200) return answer
    }
    const allowed = Object.keys(endpoint.methods).filter(method => method !== 'HEAD')
    const allow = allowed.join(', ')
    return {
      ...this.#error(call, 'method not allowed', `Allowed methods are ${allow}.`),
      headers: ['allow', allow],
    }
  }

  #failed(call: EndpointCall, cause: unknown): Answer {
    if (cause instanceof ApiError) return cause.answer
    const failure = cause instanceof RequestError ? cause : storeFailure(cause)
    if (failure !== undefined) {
      return this.#error(call, failure.code, failure.description, failure.template)
    }
    const { method, url } = call.request
    this.#services.log.error({ err: cause, traceId: call.trace.traceId, method, url }, 'request failed')
    return this.#error(call, 'internal server error', internalErrorText)
  }

  #error(
    { protocol }: EndpointCall,
    code: RequestError['code'],
    description: string | Message,
    template = messageOf(description),
  ): Answer {
    const body = protocol.errorBody(code, String(description))
    const fault = { code: protocol.errorCode?.(code) ?? code, text: template, position: msg`` }
    const answer = { ...errorAnswer(code, String(description), this.#services.engine.now()), body, fault }
    return protocol.errorType === undefined ? answer : { ...answer, contentType: protocol.errorType }
  }
}

/** HTTP/2 accepts any method name, such as `constructor`, so inherited properties are ignored. */
function handlerOf(endpoint: Endpoint, method: string): Handler | undefined {
  return Object.hasOwn(endpoint.methods, method) ? endpoint.methods[method] : endpoint.otherMethods
}

const allowedHeaders = [
  'accept-encoding',
  'authorization',
  'content-type',
  'x-driver-env',
  'x-faunadb-api-version',
  'x-fauna-driver',
  'x-fauna-source',
  'x-fauna-tags',
  'x-format',
  'x-last-seen-txn',
  'x-last-txn-ts',
  'x-linearized',
  'x-max-contention-retries',
  'x-max-retries-on-contention',
  'x-query-tags',
  'x-query-timeout',
  'x-query-timeout-ms',
  'x-runtime-environment',
  'x-runtime-environment-os',
  'x-nodejs-version',
  'traceparent',
  'x-typecheck',
  'x-performance-hints',
]

/** The header with the allowed origin is added later (response-headers.ts). */
function preflightAnswer(endpoint: Endpoint): Answer {
  return {
    status: 200,
    body: '',
    headers: [
      'access-control-max-age',
      String(secondsPerDay),
      'access-control-allow-methods',
      'GET, POST, PUT, PATCH, DELETE',
      'access-control-allow-headers',
      [...allowedHeaders, ...(endpoint.allowedHeaders ?? [])].join(', '),
    ],
  }
}
