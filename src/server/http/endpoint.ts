// Endpoints, and calls of endpoints. A handler decodes the call, calls one function of a lower layer and returns an
// answer. The edge (edge.ts) checks the request's headers before the handler runs, and writes the response's headers
// afterwards.

import type { Logger } from 'pino'
import { Ticket } from '../../base/admission/ticket.ts'
import type { Clock } from '../../base/clock.ts'
import type { Random } from '../../base/random.ts'
import type { Timers } from '../../base/timers.ts'
import type { Engine, LongBody, QueryRequest, ReadOnlyPlace } from '../../engine/engine-contract.ts'
import type { QueryLog } from '../../query-log/query-log.ts'
import type { TransferService } from '../../transfer/service.ts'
import type { Operation } from '../operation/operation.ts'
import type { Answer } from './answer.ts'
import type { DashboardFiles } from './dashboard-files.ts'
import type { Exchange } from './exchange.ts'
import type { Protocol, RequestSettings } from './protocol.ts'
import type { Tag, Trace } from './request-context.ts'
import { version4Protocol, wantsPrettyBody } from './request-headers.ts'
import type { RequestMeter } from './request-meter.ts'

/** Runs after the checks of the edge. */
export type Handler = (call: EndpointCall) => Answer | Promise<Answer>

/** An endpoint. For endpoints with JSON, `apiEndpoint` (api.ts) creates this object. */
export interface Endpoint {
  /** Exact, or a pattern of find-my-way (`/api/v1/logs/:id`, `/api/*`). */
  readonly path: string
  /**
   * The edge checks the secret before it rejects a wrong method or reads a long body. For other requests, and for all
   * requests when absent, only the handler or the engine checks the secret.
   */
  readonly authenticated?: true
  /** The edge reads the body of the request, unless the method is GET, before it calls the handler. */
  readonly readsBody?: boolean
  /** A long body is passed to the engine as bytes, without becoming a string in this process. */
  readonly takesLongBodies?: true
  /** Maximum number of bytes of a body. Longer bodies get 413. The default is the limit of queries. */
  readonly bodyBytesMax?: number
  /** True if the query log records each request. */
  readonly recorded?: boolean
  /** Request headers that pages of other origins may send to this endpoint, besides those of all endpoints. */
  readonly allowedHeaders?: readonly string[]
  /** The default is version 4. */
  readonly protocol?: Protocol
  /** Handlers by method. A 405 response lists these methods, without HEAD. */
  readonly methods: Readonly<Record<string, Handler>>
  /** Handles all other methods. Without this handler, they get 405. */
  readonly otherMethods?: Handler
}

/** A request that the edge processes: its parts, its settings, and its state. */
export class EndpointCall {
  readonly request: Exchange
  /** Values of the named parts of the endpoint's path. */
  readonly parameters: Readonly<Record<string, string>>
  readonly trace: Trace
  /** The request in the budgets of the service. */
  readonly ticket: Ticket
  /** Set after the headers have been checked, before any handler runs. */
  settings: RequestSettings | undefined
  tags: readonly Tag[] = []
  /** Undefined for a preflight of a browser (CORS). */
  endpoint: Endpoint | undefined
  /**
   * Undefined when the request has no body, or when the endpoint does not read it. For a GET request to a query
   * endpoint, the query in the URL.
   */
  body: string | undefined
  /** Replaces a long `body` for endpoints with `takesLongBodies`. */
  longBody: LongBody | undefined
  /** Arrival of the request, by the clock of the services. */
  startedMs = 0
  bytesIn = 0
  /** Bytes of the response's body; undefined until the response has been written. */
  bytesOut: number | undefined
  /** Ends the count of the request as a running request. Set when the handler begins to wait. */
  release: (() => void) | undefined
  /** The answer that waits to be sent. */
  answer: Answer | undefined

  constructor(request: Exchange, parameters: Readonly<Record<string, string>>, trace: Trace) {
    this.request = request
    this.parameters = parameters
    this.trace = trace
    this.ticket = new Ticket(request.client)
  }

  get protocol(): Protocol {
    return this.endpoint?.protocol ?? version4Protocol
  }

  /** The body of the response is to be indented. */
  get wantsPrettyBody(): boolean {
    return this.protocol.hasQueryHeaders && wantsPrettyBody(this.request.headers)
  }

  queryRequest(
    body: string | undefined,
    special?: { readonly readOnlyPlace?: ReadOnlyPlace; readonly linearized?: boolean },
  ): QueryRequest {
    const settings = this.settings as RequestSettings
    return {
      authorization: this.request.headers.authorization,
      address: this.request.client,
      language: this.protocol.language,
      dialect: settings.dialect,
      options: settings.options,
      body,
      longBody: this.longBody,
      readOnlyPlace: special?.readOnlyPlace,
      linearized: special?.linearized ?? settings.linearized,
      lastSeenTxn: settings.lastSeenTxn,
      retriesMax: settings.retriesMax,
      timeoutMs: settings.timeoutMs,
      prettyBody: this.wantsPrettyBody,
    } as QueryRequest
  }
}

export interface Services {
  readonly engine: Engine
  readonly log: Logger
  readonly clock: Clock
  readonly random: Random
  readonly timers: Timers
  /** Undefined if requests are not recorded, and there are no exports of the log. */
  readonly queryLog?: QueryLog
  /** Undefined if there are no imports and exports. */
  readonly transfer?: TransferService
  /** Undefined if there is no health report, and backups and checks cannot be started over HTTP. */
  readonly operation?: Operation
  /** Address of the service for clients, without a slash at the end. The default is the host of each request. */
  readonly publicUrl?: string
  /** Undefined if there is no dashboard, and browsers get the same responses as other clients. */
  readonly dashboard?: DashboardFiles
  readonly recordsQueries: boolean
  readonly meter: RequestMeter
  /**
   * Returns a message if a fault on this machine prevents the update of its replica. Absent when the store is not
   * shared.
   */
  readonly ownFault?: () => string | undefined
  /** Aborted some time before the service stops, so that load balancers send no new clients. */
  readonly notice: AbortSignal
  /**
   * Aborted when the service begins to stop. Requests that do not end by themselves, such as streams, must then be
   * ended.
   */
  readonly stopping: AbortSignal
}

export type LogServices = Services & Required<Pick<Services, 'queryLog'>>
