// What values are rendered with: the data behind documents and sets, and the time of the transaction.

import type { Call } from '../call.ts'
import type { Doc, SetValue } from '../value.ts'

/** The rendering of one result. */
export interface Rendering {
  /** The call as which documents and sets are read. */
  readonly call: Call
  /** The time of the transaction, or the mark that it will be filled in for. */
  transactionTime(): string
  /** The JSON text of a document or the first page of a set. */
  encode(value: Doc | SetValue, tagged: boolean): string
  /** The same in the decorated format, within so many levels of indent. */
  decorate(value: Doc | SetValue, level: number): string
}
