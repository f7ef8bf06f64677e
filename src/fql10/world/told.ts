// What is told beside the result: lines of `log` and `dbg`, of the query and of all code that it runs, and who sees them.

import type { Session } from '../../model/session.ts'
import type { Diagnostic } from '../failure/failure.ts'
import type { Span } from '../syntax/source.ts'

/** Where the lines of one evaluation are put, in order. */
export function toldOf({ told }: Session): Diagnostic[] {
  // No other language tells anything.
  return told as Diagnostic[]
}

/** The name of the text of a query. */
export const queryName = '*query*'

/** Roles, tokens and keys for clients see what belongs to the text of their query, and nothing of stored code. */
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
