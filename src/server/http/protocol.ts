// Defines the HTTP form of a language's requests and responses. The form includes the headers, and the format of errors
// that the edge (the HTTP layer around the endpoints) returns. Endpoints name their protocol; the default is the
// protocol of version 4.

import type { IncomingHttpHeaders } from 'node:http'
import type { Message } from '../../base/message.ts'
import type { RequestErrorCode } from '../../base/request-errors.ts'
import type { LanguageName } from '../../values/code.ts'
import type { Micros } from '../../values/value.ts'

/** The settings in the headers of a valid request. */
export interface RequestSettings {
  /** The name that clients use for the version of the language. */
  readonly dialect: string
  readonly lastSeenTxn: Micros | undefined
  /** Maximum number of retries of a write after conflicts; undefined if the request has no limit. */
  readonly retriesMax: number | undefined
  readonly timeoutMs: number
  /** True: read-only queries are also strictly serializable. */
  readonly linearized?: boolean
  /** Further options of the language. */
  readonly options?: Readonly<Record<string, string>>
}

/** Properties that all requests of a language share. */
export interface Protocol {
  readonly language: LanguageName
  /** The path of queries. A `GET` request has its query in the parameter `q`, and may not write. */
  readonly queryPath: string
  readonly queryMethods: readonly ('GET' | 'POST')[]
  /** True: any other method is handled like `POST`. */
  readonly takesAnyMethod?: boolean
  /** Returns the settings in the headers, or the error of the first invalid header. */
  readonly readSettings: (headers: IncomingHttpHeaders) => RequestSettings | Message
  /** The header in which clients send tags. */
  readonly tagHeader: string
  /**
   * True: the response has the transaction time, costs and tags in headers. The body is indented if the client asks for
   * indentation.
   */
  readonly factsInHead: boolean
  /** False: responses with 401 have no `www-authenticate` header. */
  readonly challenges?: false
  /** The body of errors that the edge returns for an endpoint. */
  readonly errorBody: (code: RequestErrorCode, description: string) => string
  /** The code of an error that the edge returns, if the language uses a different code. */
  readonly errorCode?: (code: RequestErrorCode) => string
}
