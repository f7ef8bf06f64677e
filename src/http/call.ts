// One request on its way through the edge: what arrived, what its headers ask for and what is known of it so far.

import type { LongBody, QueryRequest, ReadOnlyPlace } from '../engine/contract.ts'
import type { RequestErrorCode } from '../errors.ts'
import type { Answer } from './answer.ts'
import type { Exchange } from './exchange.ts'
import type { Protocol, RequestSettings } from './protocol.ts'
import { version4Protocol, wantsPrettyBody } from './request-headers.ts'
import type { Tag } from './tags.ts'
import type { Trace } from './trace.ts'

/** What the edge knows of an endpoint beside its handlers. */
export interface EndpointTraits {
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
}

export class EndpointCall {
  readonly request: Exchange
  /** Values of the named parts of the endpoint's path. */
  readonly parameters: Readonly<Record<string, string>>
  readonly trace: Trace
  /** Set once the headers have been checked, before any endpoint sees the call. */
  settings: RequestSettings | undefined
  tags: readonly Tag[] = []
  /** Set as soon as it is known who handles the call. */
  endpoint: EndpointTraits | undefined
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
