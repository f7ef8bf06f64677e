// Describes the endpoints below `/schema/1`.

import type { Session } from '../../../model/session.ts'
import type { Micros } from '../../../values/value.ts'
import type { SchemaRequest } from '../../wire/schema-request.ts'

/** A request that an endpoint handles. */
export interface SchemaCall {
  readonly request: SchemaRequest
  readonly session: Session
  /** The time of the last schema change before this request. */
  readonly version: Micros
}

/** A placeholder for the commit time in the version of a response. JSON has no NaN. */
export const commitTime = Number.NaN

/** A placeholder for the commit time in the text of a document. JSON text cannot contain this character. */
export const documentTime = '\u0002'

/** A part of a response that is JSON text already. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** The members of a response: plain values and JSON text. */
export type SchemaAnswer = { readonly version: number; readonly [member: string]: unknown }

/** An endpoint. */
export interface Route {
  readonly method: string
  /** The path after `/schema/1/`. `*` matches any part. */
  readonly path: readonly string[]
  /** Specifies which requests write. Writing requests need an admin key, rehearsals do not. */
  readonly writes?: 'always' | 'unless rehearsed'
  /** Handles a request, and returns the members of the response. Throws a SchemaFailure. */
  readonly answer: (call: SchemaCall) => SchemaAnswer
}

/** True if a request to change an item asks only for its effects. */
export function isRehearsal({ parameters }: SchemaRequest): boolean {
  return parameters.validate === 'true'
}

/** True if a request writes. */
export function doesWrite({ writes }: Route, request: SchemaRequest): boolean {
  return writes === 'always' || (writes === 'unless rehearsed' && !isRehearsal(request))
}

/** True if the version in a request must be the current version. */
export function checksVersion({ writes }: Route, request: SchemaRequest): boolean {
  return writes !== 'unless rehearsed' || !isRehearsal(request)
}
