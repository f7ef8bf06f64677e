// What is known of a path below `/schema/1`.

import type { Session } from '../../../model/session.ts'
import type { Micros } from '../../../values/value.ts'
import type { SchemaRequest } from '../../wire/schema-request.ts'

/** A request that is about to be answered. */
export interface SchemaCall {
  readonly request: SchemaRequest
  readonly session: Session
  /** When the schema was last changed, before this request. */
  readonly version: Micros
}

/** Stands for the time of the commit as a version in an answer; no JSON has such a number. */
export const commitTime = Number.NaN

/** Stands for the time of the commit in the text of a document; no JSON text has such a character. */
export const documentTime = '\u0002'

/** A part of an answer that is JSON already. */
export class JsonText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** The members of an answer: plain values, and JSON. */
export type SchemaAnswer = { readonly version: number; readonly [member: string]: unknown }

/** What a path does. */
export interface Route {
  readonly method: string
  /** The parts behind `/schema/1/`; `*` stands for any. */
  readonly path: readonly string[]
  /** Whether its requests write, so that only admin keys may ask; or only those that are no rehearsals. */
  readonly writes?: 'always' | 'unless rehearsed'
  /** The members of the answer. Throws SchemaFailures. */
  readonly answer: (call: SchemaCall) => SchemaAnswer
}

/** Whether a request to change an item asks only for what would happen. */
export function isRehearsal({ parameters }: SchemaRequest): boolean {
  return parameters.validate === 'true'
}

/** Whether a request writes. */
export function doesWrite({ writes }: Route, request: SchemaRequest): boolean {
  return writes === 'always' || (writes === 'unless rehearsed' && !isRehearsal(request))
}

/** Whether a version that is given has to be the current one. */
export function checksVersion({ writes }: Route, request: SchemaRequest): boolean {
  return writes !== 'unless rehearsed' || !isRehearsal(request)
}
