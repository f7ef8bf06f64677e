// Returns the lines that `log` and `dbg` have written in a query and in the stored code that the query runs. Decides
// which diagnostics the caller sees.

import type { Session } from '../../model/session.ts'
import type { Diagnostic } from '../failure/query-failure.ts'
import type { Span } from '../syntax/source.ts'

export function logLinesOf({ output }: Session): Diagnostic[] {
  // Version 4 writes no log lines, so all log lines are diagnostics of version 10.
  return output as Diagnostic[]
}

export const queryName = '*query*'

/**
 * A caller with a built-in role other than `client` sees all diagnostics. Other callers see only positions in their own
 * query. Of the diagnostics of stored code, they see only errors.
 */
export function visibleTo(
  { caller: { authority } }: Session,
  diagnostics: readonly Diagnostic[],
): readonly Diagnostic[] {
  if (diagnostics.length === 0 || (authority.kind === 'builtin' && authority.role !== 'client'))
    return diagnostics
  return diagnostics.flatMap(diagnostic => ownPart(diagnostic) ?? [])
}

function ownPart(diagnostic: Diagnostic): Diagnostic | undefined {
  const { name, remarks = [], span, trace = [] } = diagnostic
  if (isOwn(span)) {
    return {
      ...diagnostic,
      remarks: remarks.filter(remark => isOwn(remark.span)),
      trace: trace.filter(isOwn),
    }
  }
  if (name !== 'error') return undefined
  const [own, ...around] = trace.filter(isOwn)
  return { ...diagnostic, span: own, remarks: [], trace: around }
}

function isOwn(span: Span | undefined): boolean {
  return span?.source.name === queryName
}
