// Converts the failures of a check to the diagnostics that the summary of a response shows.

import { type Message, msg } from '../../base/message.ts'
import { upsert } from '../../base/upsert.ts'
import type { Diagnostic, Remark } from '../failure/query-failure.ts'
import type { Span } from '../syntax/source.ts'
import type { Use } from './terms.ts'

/** A reason why a value does not fit a use. Types are printed after the changes of the check were undone. */
export type CheckFailure =
  | { readonly kind: 'subtype'; readonly value: Use; readonly use: Use; readonly span: Span | undefined }
  | {
      readonly kind: 'other'
      readonly span: Span | undefined
      readonly message: (print: Print) => Message
      readonly remarks?: (print: Print) => readonly Remark[]
    }

export interface Print {
  readonly value: (type: Use) => string
  readonly use: (use: Use) => string
}

function isInside(span: Span | undefined, site: Span): boolean {
  return (
    span === undefined || (span.source === site.source && span.start >= site.start && span.end <= site.end)
  )
}

interface Reason {
  readonly span: Span | undefined
  readonly isSubtype: boolean
  readonly message: Message
  readonly remarks: readonly Remark[]
}

/** The error of one check of `value` against `use`. */
export function diagnosticOf(
  failures: readonly CheckFailure[],
  value: Use,
  use: Use,
  site: Span,
  print: Print,
): Diagnostic {
  const reasons = reasonsOf(failures, print)
  const [only] = reasons
  if (only !== undefined && reasons.length === 1 && (!only.isSubtype || isInside(only.span, site))) {
    return { name: 'error', message: only.message, span: only.span ?? site, remarks: only.remarks }
  }
  const sorted = [...reasons].sort(
    (left, right) =>
      (left.span ?? site).start - (right.span ?? site).start ||
      compare(String(left.message), String(right.message)),
  )
  const message = msg`Type \`${print.value(value)}\` is not a subtype of \`${print.use(use)}\``
  const remarks = sorted.flatMap(({ message: text, span, remarks: own }): Remark[] => [
    { name: 'cause', message: String(text), span: span ?? site },
    ...own,
  ])
  return { name: 'error', message, span: site, remarks }
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0
}

/** Failures of the same value against several types are one reason. */
function reasonsOf(failures: readonly CheckFailure[], print: Print): Reason[] {
  const reasons = new Map<string, Reason>()
  const uses = new Map<string, string[]>()
  for (const failure of failures) {
    const { span } = failure
    if (failure.kind === 'subtype') {
      const value = print.value(failure.value)
      const key = `subtype ${spanKey(span)} ${value}`
      const texts = upsert(uses, key, () => [])
      const text = print.use(failure.use)
      if (!texts.includes(text)) texts.push(text)
      const message = msg`Type \`${value}\` is not a subtype of \`${texts.join(' | ')}\``
      reasons.set(key, { span, isSubtype: true, message, remarks: [] })
    } else {
      const message = failure.message(print)
      const key = `other ${spanKey(span)} ${message}`
      if (reasons.has(key)) continue
      reasons.set(key, { span, isSubtype: false, message, remarks: failure.remarks?.(print) ?? [] })
    }
  }
  return [...reasons.values()]
}

/** Identifies a span in maps. */
export function spanKey(span: Span | undefined): string {
  return span === undefined ? '' : `${span.source.name}:${span.start}:${span.end}`
}
