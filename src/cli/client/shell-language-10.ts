// Parses, runs and shows queries of version 10. A text is one query.

import { isVersion4 } from '../../fql4/text/index.ts'
import { QueryFailure } from '../../fql10/failure/query-failure.ts'
import { summaryOf } from '../../fql10/failure/summary.ts'
import { parseQuery } from '../../fql10/syntax/parse-query.ts'
import { Source } from '../../fql10/syntax/source.ts'
import { escapeHidden, styleFor } from '../terminal.ts'
import { jsonText, valueText, writeVersionHint } from './report.ts'
import { type ParsedQuery, type ShellLanguage, TextFault } from './shell-language.ts'

function queryOf(text: string): ParsedQuery {
  return {
    body: text,
    async run(connection, shown, signal) {
      const { body, data, error, summary } = await connection.queryText(
        text,
        shown.asJson ? 'simple' : 'decorated',
        signal,
      )
      if (shown.asJson) {
        const output = error === undefined ? shown.stdout : shown.stderr
        if (error !== undefined || shown.showsResult)
          output.write(`${jsonText(error === undefined ? data : body.trim(), output)}\n`)
        return error === undefined
      }
      // Log messages and hints, before the result.
      if (summary !== '') shown.stderr.write(`${styleFor(shown.stderr)('dim', escapeHidden(summary))}\n`)
      if (error !== undefined) {
        const { code, message } = error
        const rest = summary.includes(message) ? '' : `: ${escapeHidden(message)}`
        shown.stderr.write(`${styleFor(shown.stderr)(['red', 'bold'], escapeHidden(code))}${rest}\n`)
        const isUnbound = code === 'unbound_variable' || summary.includes('error: Unbound variable `')
        if (isUnbound && isVersion4(text)) writeVersionHint('4', shown.stderr)
      } else if (shown.showsResult) shown.stdout.write(`${valueText(data, shown.stdout)}\n`)
      return error === undefined
    },
  }
}

export const shellLanguage10: ShellLanguage = {
  name: '10',
  parse({ text }) {
    if (text.trim() === '') return []
    try {
      parseQuery(new Source('*query*', text), [])
    } catch (cause) {
      if (!(cause instanceof QueryFailure)) throw cause
      const end = text.trimEnd().length
      const isIncomplete = cause.diagnostics.some(({ span }) => span !== undefined && span.start >= end)
      throw new TextFault(isIncomplete, output => {
        output.write(`${escapeHidden(summaryOf(cause.diagnostics))}\n`)
        if (isVersion4(text)) writeVersionHint('4', output)
      })
    }
    return [queryOf(text)]
  },
}
