// Runs the expressions of a text one after the other.

import { FqlSyntaxError, type ParsedExpression, parseExpressions } from '../../v4/text/index.ts'
import type { Connection } from './connection.ts'
import { type Output, type QueryText, writeErrors, writeResult, writeSyntaxError } from './report.ts'

/** How results are shown, and where. */
interface RunOptions {
  readonly asJson: boolean
  /** Results other than the last are not shown. */
  readonly lastOnly: boolean
  readonly stdout: Output
  readonly stderr: Output
}

/** The expressions of a text; undefined when it has a mistake, which has then been told. */
export function readText(from: QueryText, stderr: Output): readonly ParsedExpression[] | undefined {
  try {
    return parseExpressions(from.text)
  } catch (cause) {
    if (!(cause instanceof FqlSyntaxError)) throw cause
    writeSyntaxError(cause, from, stderr)
    return undefined
  }
}

/** Runs expressions until one fails; resolves with the exit status. */
export async function runExpressions(
  expressions: readonly ParsedExpression[],
  from: QueryText,
  connection: Connection,
  { asJson, lastOnly, stdout, stderr }: RunOptions,
): Promise<number> {
  for (const [index, expression] of expressions.entries()) {
    const reply = await connection.query(expression.json)
    if (reply.kind === 'errors') {
      writeErrors(reply, expression, from, asJson, stderr)
      return 1
    }
    const isLast = index === expressions.length - 1
    if (isLast || !lastOnly) writeResult(reply.resource, reply.body, asJson, stdout)
  }
  return 0
}
