// The HTTP form of a language's requests and responses: headers, and the format of errors that the edge (the HTTP layer
// around the endpoints) returns. Endpoints name their protocol; the default is version 4.

import type { IncomingHttpHeaders } from 'node:http'
import type { Message } from '../../base/message.ts'
import type { RequestErrorCode } from '../../base/request-errors.ts'
import type { LanguageName } from '../../values/code.ts'
import type { Micros } from '../../values/value.ts'

/** Settings from the headers of a valid request. */
export interface RequestSettings {
  /** The name that clients use for the version of the language. */
  readonly dialect: string
  readonly lastSeenTxn: Micros | undefined
  /** Maximum number of retries of a write after conflicts; undefined if no header sets the number. */
  readonly retriesMax: number | undefined
  readonly timeoutMs: number
  /** Read-only queries are also strictly serializable. */
  readonly linearized?: boolean
  /** Options of the language. */
  readonly options?: Readonly<Record<string, string>>
}

/** The HTTP interface of a language. */
export interface Protocol {
  readonly language: LanguageName
  readonly queryPath: string
  /** `GET` requests have their query in the URL, and may not write. */
  readonly queryMethods: readonly ('GET' | 'POST')[]
  /** Other methods are handled like `POST`. */
  readonly takesAnyMethod?: boolean
  /** Returns the error of the first invalid header. */
  readonly readSettings: (headers: IncomingHttpHeaders) => RequestSettings | Message
  readonly tagHeader: string
  /**
   * The response has the transaction time, costs and tags in headers. Its body is indented if the client asks for
   * indentation.
   */
  readonly hasQueryHeaders: boolean
  /** False: responses with 401 have no `www-authenticate` header. */
  readonly challenges?: false
  /** Returns the body of an error that the edge returns for an endpoint. */
  readonly errorBody: (code: RequestErrorCode, description: string) => string
  /** Content type of `errorBody`. The default is JSON. */
  readonly errorType?: string
  /** Returns the code of an error that the edge returns, if the language uses a different code. */
  readonly errorCode?: (code: RequestErrorCode) => string
}
