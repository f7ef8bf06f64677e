// The versions of the query language. Each version parses a text into queries, runs a query and shows its result.

import type { Json } from '../../values/value.ts'
import type { Output } from '../terminal.ts'
import type { QueryConnection } from './connection.ts'
import type { QueryText } from './report.ts'

/** The name of a version. */
export type DialectName = '4' | '10'

/** The streams and the format for results. */
export interface ResultOutput {
  readonly asJson: boolean
  /** If false, only errors are shown. */
  readonly showsResult: boolean
  readonly stdout: Output
  readonly stderr: Output
}

export interface TextQuery {
  /** Sends the query and shows the result; resolves with true if it succeeded. */
  run(connection: QueryConnection, output: ResultOutput, signal?: AbortSignal): Promise<boolean>
  /** The query in the format of a request body. */
  readonly body: Json
}

/** Thrown for a text that is not valid in the language. */
export class TextFault {
  /** True if more text could make the text valid. */
  readonly isIncomplete: boolean
  /** Shows the error and its position. */
  readonly show: (output: Output) => void
  constructor(isIncomplete: boolean, show: (output: Output) => void) {
    this.isIncomplete = isIncomplete
    this.show = show
  }
}

/** A version of the language. */
export interface Dialect {
  readonly name: DialectName
  /** The queries of a text. Throws {@link TextFault}. */
  read(from: QueryText): readonly TextQuery[]
}
