// The interface of the two languages (version 4 and version 10) in commands: parses a text into queries, runs them and
// shows their results.

import type { Json } from '../../values/value.ts'
import type { Output } from '../terminal.ts'
import type { QueryConnection } from './connection.ts'
import type { QuerySource } from './report.ts'

export type LanguageVersion = '4' | '10'

export interface ResultOutput {
  readonly asJson: boolean
  /** False: the result of a successful query is not shown. */
  readonly showsResult: boolean
  readonly stdout: Output
  readonly stderr: Output
}

/** A query from a {@link QuerySource}, ready to be sent. */
export interface ParsedQuery {
  /** Resolves with true if the query succeeded. */
  run(connection: QueryConnection, output: ResultOutput, signal?: AbortSignal): Promise<boolean>
  /** The query for `/api/v1/explain`: an expression as wire JSON (version 4), or a text (version 10). */
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

/** Parses the queries of one language. The shell and `eval` use it. */
export interface ShellLanguage {
  readonly name: LanguageVersion
  /** Throws {@link TextFault}. */
  parse(from: QuerySource): readonly ParsedQuery[]
}
