// Defines the type of the endpoints below `/schema/1`, and the errors that these endpoints throw.

import { limits } from '../../../base/limits.ts'
import { type Message, messageOf, msg, own } from '../../../base/message.ts'
import { LanguageError } from '../../../model/failure.ts'
import type { ResponseFault } from '../../../model/language.ts'
import type { Session } from '../../../model/session.ts'
import type { Micros } from '../../../values/value.ts'
import { type Diagnostic, positionOf, type QueryFailure } from '../../failure/query-failure.ts'
import { summaryOf } from '../../failure/summary.ts'
import type { SchemaRequest } from '../../wire/schema-request.ts'

export interface SchemaCall {
  readonly request: SchemaRequest
  readonly session: Session
  /** The time of the last schema change before this request. */
  readonly version: Micros
}

/**
 * A placeholder in the text of a document, which the commit time replaces as ISO text. JSON text cannot contain this
 * character unescaped.
 */
export const documentTimePlaceholder = '\u0002'

/** A part of a response that is already JSON text. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/**
 * A placeholder in the member `version`, which the commit time replaces in microseconds. JSON text cannot contain this
 * character unescaped.
 */
export const versionPlaceholder: JsonText = new JsonText('\u0001')

export type ResponseMembers = { readonly version: Micros | JsonText; readonly [member: string]: unknown }

export interface Route {
  readonly method: string
  /** The path after `/schema/1/`. `*` matches any path segment. */
  readonly path: readonly string[]
  /** `unless rehearsed`: all requests except rehearsals ({@link isRehearsal}) write. Writing needs an admin key. */
  readonly writes?: 'always' | 'unless rehearsed'
  /** Returns the members of the response. Throws a SchemaFailure. */
  readonly handle: (call: SchemaCall) => ResponseMembers
}

/** A rehearsal (dry run) describes the effects of a change, and writes nothing. */
export function isRehearsal({ parameters }: SchemaRequest): boolean {
  return parameters.validate === 'true'
}

export function doesWrite({ writes }: Route, request: SchemaRequest): boolean {
  return writes === 'always' || (writes === 'unless rehearsed' && !isRehearsal(request))
}

/** True if the version in a request must be the current version. */
export function checksVersion({ writes }: Route, request: SchemaRequest): boolean {
  return writes !== 'unless rehearsed' || !isRehearsal(request)
}

/** Rejects a request, and discards all its writes. */
export class SchemaFailure extends LanguageError {
  override name = 'SchemaFailure'
  readonly status: 400 | 403 | 404 | 405 | 409
  /** The query log records this fault. */
  readonly fault: ResponseFault

  /** `about` is the diagnostic that the message shows. */
  constructor(status: SchemaFailure['status'], message: string | Message, about?: Diagnostic) {
    super(String(message))
    this.fault = {
      code: '',
      text: about ? msg`${own(about.name)}: ${messageOf(about.message)}` : messageOf(message),
      position: positionOf(about?.span),
    }
    this.status = status
  }

  get aborted(): undefined {
    return undefined
  }
}

/**
 * The message shows the faults with their positions. A message that would be too long shows only the first faults. The
 * query log records the first fault.
 */
export function invalidFiles(faults: readonly (Diagnostic | string)[]): SchemaFailure {
  const rendered: string[] = []
  let units = 0
  for (const fault of faults.slice(0, limits.gatheredErrorsMax)) {
    const text = typeof fault === 'string' ? fault : summaryOf([fault])
    units += text.length
    // A fault contains source lines, which may be long.
    if (rendered.length > 0 && units > limits.v10SummaryUnitsMax) break
    rendered.push(text)
  }
  const [first] = faults
  return new SchemaFailure(400, rendered.join('\n'), typeof first === 'string' ? undefined : first)
}

/**
 * If the write makes the schema inconsistent, the message contains the first diagnostic with its position. The name of
 * the diagnostic (`error: `) is removed, as from the messages of other failed writes.
 */
export function failedWrite(failure: QueryFailure): SchemaFailure {
  const [first] = failure.diagnostics
  if (failure.code !== 'invalid_schema' || first?.span === undefined)
    return new SchemaFailure(400, first?.message ?? failure.template)
  return new SchemaFailure(400, summaryOf([first]).slice(`${first.name}: `.length), first)
}

/** The failure for an unknown path, file or item. */
export function notFound(): SchemaFailure {
  return new SchemaFailure(404, msg`Not found`)
}
