// The versions of the language, as commands that run texts see them: from a text to queries, from a query to what people
// see.

import type { Json } from '../../values/value.ts'
import type { Output } from '../terminal.ts'
import type { QueryConnection } from './connection.ts'
import type { QueryText } from './report.ts'

/** The name of a version. */
export type DialectName = '4' | '10'

/** How results are shown, and where. */
export interface Shown {
  readonly asJson: boolean
  /** False: only errors are shown. */
  readonly showsResult: boolean
  readonly stdout: Output
  readonly stderr: Output
}

/** One query of a text. */
export interface TextQuery {
  /** Sends it and shows what came back; resolves with whether it succeeded. */
  run(connection: QueryConnection, shown: Shown, signal?: AbortSignal): Promise<boolean>
  /** The query as the body of a request has it. */
  readonly body: Json
}

/** Thrown for a text that is none of the language. */
export class TextFault {
  /** More text could mend it. */
  readonly isIncomplete: boolean
  /** Tells what is wrong, and where. */
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
