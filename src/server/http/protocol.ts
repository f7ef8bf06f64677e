// How requests and responses of a language look in HTTP, where that differs: which headers say what, which are sent back,
// how an error looks that the edge tells. Endpoints name theirs; those without one have that of version 4.

import type { IncomingHttpHeaders } from 'node:http'
import type { RequestErrorCode } from '../../base/errors.ts'
import type { Message } from '../../base/message.ts'
import type { LanguageName } from '../../values/code.ts'
import type { Micros } from '../../values/value.ts'

/** What the headers of a valid request ask for. */
export interface RequestSettings {
  /** The version of the language, as its clients name it. */
  readonly dialect: string
  readonly lastSeenTxn: Micros | undefined
  /** How often a write that meets contention is tried again; undefined when not said. */
  readonly retriesMax: number | undefined
  readonly timeoutMs: number
  /** Reads go through the transaction log, too. */
  readonly linearized?: boolean
  /** What else they ask of the language. */
  readonly options?: Readonly<Record<string, string>>
}

/** What the requests of one language have in common. */
export interface Protocol {
  readonly language: LanguageName
  /** Where its requests are sent to. A `GET` has its query in the parameter `q`, and may not write. */
  readonly queryPath: string
  readonly queryMethods: readonly ('GET' | 'POST')[]
  /** Any other method is taken for `POST`. */
  readonly takesAnyMethod?: boolean
  /** What the headers ask for, or the description of the error that refuses the first bad one. */
  readonly readSettings: (headers: IncomingHttpHeaders) => RequestSettings | Message
  /** The header in which clients send tags. */
  readonly tagHeader: string
  /** The transaction's time, costs and tags go back in headers, and bodies are laid out for people who ask for it. */
  readonly factsInHead: boolean
  /** False: who is refused is not told how to identify. */
  readonly challenges?: false
  /** The body of errors that the edge tells in the place of an endpoint. */
  readonly errorBody: (code: RequestErrorCode, description: string) => string
  /** What such an error is called, where that differs. */
  readonly errorCode?: (code: RequestErrorCode) => string
}
