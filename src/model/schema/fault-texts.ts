// Texts of errors about types, checks and changes to protected databases, which both languages share.

import { type Message, msg } from '../../base/message.ts'
import type { DestructiveChange, FailedCheck, Fault, FieldPath, TypeFault } from '../failure.ts'

/** Returns the text of a type fault, without its path. */
export function typeFaultText(fault: TypeFault): Message {
  switch (fault.kind) {
    case 'mismatch':
      return msg`Expected ${fault.expected}, provided ${fault.provided}`
    case 'missing':
      return msg`Missing required field of type ${fault.expected}`
    case 'unexpected':
      return msg`Unexpected field provided`
    case 'tuple arity':
      return msg`Invalid tuple arity`
    case 'union fields':
      return msg`Union requires fields ${alternatives(fault.fields.map(each => `[${each.join(', ')}]`))}`
  }
}

/** Joins texts: `a or b`, `a, b, or c`. */
function alternatives(texts: readonly string[]): string {
  const last = texts.at(-1) ?? ''
  return texts.length < 3 ? texts.join(' or ') : `${texts.slice(0, -1).join(', ')}, or ${last}`
}

/** Fields of a document outside of its data. Data fields with these names are shown with `data` before them. */
const metadata = new Set<string | number>(['id', 'ts', 'ttl'])

/** Returns a path as users see it, without `data` in front of the name of a data field. */
export function shownPath(path: FieldPath): FieldPath {
  const [top, name] = path
  return top === 'data' && name !== undefined && !metadata.has(name) ? path.slice(1) : path
}

/** Formats a path as text: `a.b[0]`. */
export function pathText(path: FieldPath): string {
  return path
    .map((each, index) => (typeof each === 'number' ? `[${each}]` : index === 0 ? each : `.${each}`))
    .join('')
}

/** Returns the text of a failed check. */
export function failedCheckText({ name, why }: FailedCheck): Message {
  if (why === 'not met') return msg`Document failed check constraint \`${name}\``
  return msg`Error evaluating check constraint \`${name}\`: function returned a non-boolean value`
}

/** Returns the text for a value that version 4 cannot represent. */
export function foreignValueText({ type }: { readonly type: string }): Message {
  return msg`v10 value has type ${type}, which cannot be represented in v4.`
}

/** The text for changing a definition while a schema is staged, which is possible only in version 4. */
export const stagedSchemaText: Message = msg`Cannot update schema from FQL v4 if schema has been staged.`

/**
 * Describes why a document does not match its collection's definition, for operations that do not use a query language,
 * such as imports.
 */
export function faultText(fault: Fault): string {
  switch (fault.kind) {
    case 'mistyped':
      return fault.failures
        .map(each => `${pathText(shownPath(each.path))}: ${typeFaultText(each.fault)}`)
        .join(', ')
    case 'failed checks':
      return fault.checks.map(failedCheckText).join(', ')
    case 'broken check':
      return `Error evaluating a check constraint: ${fault.error.message}`
    case 'failed default':
      return `${fault.field}: Default field evaluation failed: ${fault.error.message}`
    case 'foreign value':
      return String(foreignValueText(fault))
    default:
      return fault.kind
  }
}

/** Texts of both languages about changes that a protected database rejects. */
export const destructiveTexts: Readonly<Record<DestructiveChange, string>> = {
  'delete collection': 'Cannot delete collection',
  'delete index': 'Cannot cause deletion of backing index',
  'decrease history_days': 'Cannot decrease `history_days` field',
  'remove history_days': 'Cannot remove `history_days` field',
  'decrease ttl_days': 'Cannot decrease `ttl_days` field',
  'remove ttl_days': 'Cannot remove `ttl_days` field',
}
