// Defines how a version of the query language parses a text into queries, runs them and shows their results.

import type { Json } from '../../values/value.ts'
import type { Output } from '../terminal.ts'
import type { QueryConnection } from './connection.ts'
import type { QueryText } from './report.ts'

export type DialectName = '4' | '10'

export interface ResultOutput {
  readonly asJson: boolean
  /** False: only errors are shown. */
  readonly showsResult: boolean
  readonly stdout: Output
  readonly stderr: Output
}

/** A query of a text, ready to be sent. */
export interface TextQuery {
  /** Resolves with true if the query succeeded. */
  run(connection: QueryConnection, output: ResultOutput, signal?: AbortSignal): Promise<boolean>
  /** Query in the format of a request body. */
  readonly body: Json
}

/** Thrown for a text that is not valid in the language. */
export class TextFault {
  /** True if more text could make the text valid. */
  readonly isIncomplete: boolean
  /** Shows the error and its position in the text. */
  readonly show: (output: Output) => void
  constructor(isIncomplete: boolean, show: (output: Output) => void) {
    this.isIncomplete = isIncomplete
    this.show = show
  }
}

/** Reads and runs the queries of one version of the language. */
export interface Dialect {
  readonly name: DialectName
  /** Throws {@link TextFault}. */
  read(from: QueryText): readonly TextQuery[]
}
