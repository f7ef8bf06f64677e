// The context of rendering: access to documents and sets, and the time of the transaction.

import type { Call } from '../call.ts'
import type { Doc, SetValue } from '../value.ts'

/** Renders one result. */
export interface Rendering {
  /** The call that reads documents and sets. */
  readonly call: Call
  /** The time of the transaction, or the placeholder for it. */
  transactionTime(): string
  /** The JSON text of a document or the first page of a set. */
  encode(value: Doc | SetValue, tagged: boolean): string
  /** The text of a document or the first page of a set in the decorated format, at an indentation level. */
  decorate(value: Doc | SetValue, level: number): string
}
