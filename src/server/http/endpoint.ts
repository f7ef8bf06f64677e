// An endpoint, and a call to it. A handler decodes, calls one function of a lower layer and hands back an answer; the
// edge checks headers before and writes headers after.

import type { Logger } from 'pino'
import type { Clock } from '../../base/clock.ts'
import type { RequestErrorCode } from '../../base/errors.ts'
import type { Random } from '../../base/random.ts'
import type { Timers } from '../../base/timers.ts'
import type { Engine, LongBody, QueryRequest, ReadOnlyPlace } from '../../engine/contract.ts'
import type { QueryLog } from '../../query-log/query-log.ts'
import type { TransferService } from '../../transfer/service.ts'
import type { Operation } from '../operation/operation.ts'
import type { Answer } from './answer.ts'
import type { DashboardFiles } from './dashboard-files.ts'
import type { Exchange } from './exchange.ts'
import type { Protocol, RequestSettings } from './protocol.ts'
import { version4Protocol, wantsPrettyBody } from './request-headers.ts'
import type { RequestMeter } from './request-meter.ts'
import type { Tag } from './tags.ts'
import type { Trace } from './trace.ts'

/** What an endpoint does with a request that has passed the edge. */
export type Handler = (call: EndpointCall) => Answer | Promise<Answer>

export interface Endpoint {
  /** An exact path, or a pattern of find-my-way (`/api/v1/logs/:id`, `/api/*`). */
  readonly path: string
  /** A wrong method without a valid secret is answered 401 and not 405. */
  readonly authenticated?: true
  /** The request's body is read, as text, before the handler is called. */
  readonly readsBody?: boolean
  /** The engine gets what it reads, which may be so long that it does not become a text in this process. */
  readonly takesLongBodies?: true
  /** Bytes of its bodies, longer ones are answered 413; those of queries when absent. */
  readonly bodyBytesMax?: number
  /** Its requests are queries: each leaves a record in the query log. */
  readonly recorded?: boolean
  /** How its requests and responses look; as those of version 4 when absent. */
  readonly protocol?: Protocol
  /** The body of errors that the edge answers in its place; that of its protocol when absent. */
  readonly errorBody?: (code: RequestErrorCode, description: string) => string
  readonly errorCode?: (code: RequestErrorCode) => string
  /** Handlers by method. Any other method is answered 405, which names these (HEAD is left out). */
  readonly methods: Readonly<Record<string, Handler>>
  /** Answers all other methods instead of 405. */
  readonly otherMethods?: Handler
}

/** One request on its way through the edge: what arrived, what its headers ask for and what is known of it so far. */
export class EndpointCall {
  readonly request: Exchange
  /** Values of the named parts of the endpoint's path. */
  readonly parameters: Readonly<Record<string, string>>
  readonly trace: Trace
  /** Set once the headers have been checked, before any endpoint sees the call. */
  settings: RequestSettings | undefined
  tags: readonly Tag[] = []
  /** Set as soon as it is known who handles the call. */
  endpoint: Endpoint | undefined
  /** The body as text; undefined when none was sent or the endpoint does not read it. In a GET the query. */
  body: string | undefined
  /** A long body as it came, where the endpoint takes such; there is no text then. */
  longBody: LongBody | undefined
  /** When it arrived, by the clock of the meter, if there is one. */
  startedMs = 0
  /** Bytes of the body. */
  bytesIn = 0
  /** Set when it is known and has not been sent yet. */
  answer: Answer | undefined

  constructor(request: Exchange, parameters: Readonly<Record<string, string>>, trace: Trace) {
    this.request = request
    this.parameters = parameters
    this.trace = trace
  }

  /** How it looks in HTTP. */
  get protocol(): Protocol {
    return this.endpoint?.protocol ?? version4Protocol
  }

  /** Whether the body of its response is laid out for people. */
  get wantsPrettyBody(): boolean {
    return this.protocol.factsInHead && wantsPrettyBody(this.request.headers)
  }

  /** The call as the engine wants it. */
  queryRequest(
    body: string | undefined,
    special?: { readonly readOnly?: ReadOnlyPlace; readonly linearized?: boolean },
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
      readOnly: special?.readOnly,
      linearized: special?.linearized ?? settings.linearized,
      lastSeenTxn: settings.lastSeenTxn,
      retriesMax: settings.retriesMax,
      timeoutMs: settings.timeoutMs,
      prettyBody: this.wantsPrettyBody,
    } as QueryRequest
  }
}

/** What endpoints are built from. */
export interface Services {
  readonly engine: Engine
  readonly log: Logger
  readonly clock: Clock
  readonly random: Random
  readonly timers: Timers
  /** Absent: nothing is recorded and nothing exported. */
  readonly queryLog?: QueryLog
  /** Absent: nothing is imported or exported. */
  readonly transfer?: TransferService
  /** Absent: nothing is told of the service, and no backups and checks are started over HTTP. */
  readonly operation?: Operation
  /** Where clients reach the service, without a slash at the end; absent: the host that they asked. */
  readonly publicUrl?: string
  /** Absent: there is no dashboard, and browsers are answered like everybody. */
  readonly dashboard?: DashboardFiles
  /** Whether requests are recorded; true when absent. */
  readonly recordsQueries?: boolean
  /** Absent: nothing is counted. */
  readonly meter?: RequestMeter
  /** Why this machine cannot keep up with the store that it shares with others, when that is its own fault; absent: it has its own. */
  readonly ownFault?: () => string | undefined
  /** Aborted some time before the service stops, when no new client shall be sent to it; absent: it says nothing. */
  readonly notice?: AbortSignal
  /** Aborted when the service is asked to stop: whatever has no end of its own has to end then. */
  readonly stopping: AbortSignal
}
