// Parses, runs and shows queries of version 4. A text contains expressions as they appear in code that uses the
// drivers; each expression is a query.

import {
  FqlSyntaxError,
  looksLikeVersion10,
  type ParsedExpression,
  parseExpressions,
} from '../../fql4/text/index.ts'
import { type QuerySource, writeErrors, writeResult, writeSyntaxError, writeVersionHint } from './report.ts'
import { type ParsedQuery, type ShellLanguage, TextFault } from './shell-language.ts'

function queryOf(expression: ParsedExpression, from: QuerySource): ParsedQuery {
  return {
    body: expression.json,
    async run(connection, { asJson, showsResult, stderr, stdout }, signal) {
      const reply = await connection.query(expression.json, signal)
      if (reply.kind === 'errors') {
        writeErrors(reply, expression, from, asJson, stderr)
        return false
      }
      if (showsResult) writeResult(reply.resource, reply.body, asJson, stdout)
      return true
    },
  }
}

export const shellLanguage4: ShellLanguage = {
  name: '4',
  parse(from) {
    try {
      return parseExpressions(from.text).map(expression => queryOf(expression, from))
    } catch (cause) {
      if (!(cause instanceof FqlSyntaxError)) throw cause
      throw new TextFault(cause.incomplete, output => {
        writeSyntaxError(cause, from, output)
        if (looksLikeVersion10(from.text)) writeVersionHint('10', output)
      })
    }
  },
}
