// Describes why a concrete value does not fit a use.

import { msg } from '../../base/message.ts'
import type { Remark } from '../failure/query-failure.ts'
import type { CheckFailure, Print } from './failures.ts'
import type { IntersectionType, SelectUse, Type, UnionType, Use, Variable } from './terms.ts'

/** The failure of a value that fits no rule of the table of subtyping. */
export function rejectionOf(
  value: Exclude<Type, Variable | UnionType | IntersectionType>,
  use: Exclude<Use, Variable | IntersectionType | UnionType>,
): CheckFailure {
  const { span } = value
  switch (use.kind) {
    case 'select':
    case 'open': {
      const message = (print: Print) =>
        msg`Type \`${print.value(value)}\` does not have field \`${use.field}\``
      if (use.kind === 'open') return { kind: 'other', span, message }
      const remarks = (print: Print) => fieldHints(value, use, print)
      return { kind: 'other', span: use.nameSpan ?? span, message, remarks }
    }
    case 'access':
      return {
        kind: 'other',
        span: use.argumentsSpan,
        message: print => msg`Cannot use \`[]\` operator with type \`${print.value(value)}\``,
      }
    case 'project':
      return {
        kind: 'other',
        span,
        message: print => msg`Cannot use projection with type \`${print.value(value)}\``,
      }
    case 'call':
    case 'function': {
      if (use.kind === 'function' && value.kind !== 'named' && value.kind !== 'literal') break
      const at = use.kind === 'call' ? use.argumentsSpan : undefined
      return {
        kind: 'other',
        span,
        message: print => msg`Type \`${print.value(value)}\` cannot be used as a function`,
        remarks: print =>
          at === undefined
            ? []
            : [{ name: 'hint', message: `\`${print.value(value)}\` is used as a function here`, span: at }],
      }
    }
  }
  return { kind: 'subtype', value, use, span }
}

function fieldHints(value: Exclude<Type, Variable>, { nameSpan, dot }: SelectUse, print: Print): Remark[] {
  const hints: Remark[] = []
  const { span } = value
  const isBeforeDot = span !== undefined && span.source === nameSpan?.source && span.end === dot
  const isField =
    span !== undefined &&
    span.source === nameSpan?.source &&
    span.start === nameSpan.start &&
    span.end === nameSpan.end
  if (span !== undefined && !isBeforeDot && !isField) {
    hints.push({ name: 'hint', message: `Type \`${print.value(value)}\` inferred here`, span })
  }
  if (value.kind === 'named' && value.name === 'Null' && nameSpan !== undefined && dot !== undefined) {
    const at = { source: nameSpan.source, start: dot, end: dot }
    const message = 'Use the ! or ?. operator to handle the null case'
    hints.push({ name: 'hint', message, span: at, suggestion: '!' })
  }
  return hints
}
