// Error texts about types, checks, and changes to protected databases; most are the same in all query languages.

import { type Message, msg } from '../../base/message.ts'
import type { Path } from '../../storage/store/index-definition.ts'
import type { DestructiveChange, FailedCheck, Fault, FieldPath, TypeFault } from '../failure.ts'

/** Returns the text of a type fault, without the path. */
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

/** `a or b`, or `a, b, or c`. */
function alternatives(texts: readonly string[]): string {
  const last = texts.at(-1) ?? ''
  return texts.length < 3 ? texts.join(' or ') : `${texts.slice(0, -1).join(', ')}, or ${last}`
}

/**
 * Metadata fields of a document. The set does not contain `coll`, which is a metadata field only in version 10, so the
 * path `data.coll` is shown as `coll`.
 */
const metadata = new Set<string | number>(['id', 'ts', 'ttl'])

/**
 * Removes `data` at the start of a path. Paths such as `data.id` are not changed, because `id` is also the name of a
 * field outside of `data`.
 */
export function shownPath(path: FieldPath): FieldPath {
  const [top, name] = path
  return top === 'data' && name !== undefined && !metadata.has(name) ? path.slice(1) : path
}

/** Formats a path, such as `a.b[0]`. */
export function pathText(path: FieldPath | Path): string {
  return path
    .map((each, index) => (typeof each !== 'string' ? `[${each}]` : index === 0 ? each : `.${each}`))
    .join('')
}

export function failedCheckText({ name, why }: FailedCheck): Message {
  if (why === 'not met') return msg`Document failed check constraint \`${name}\``
  return msg`Error evaluating check constraint \`${name}\`: function returned a non-boolean value`
}

/** Version 4 cannot represent the value. */
export function foreignValueText({ type }: { readonly type: string }): Message {
  return msg`v10 value has type ${type}, which cannot be represented in v4.`
}

/** The error text for a change of a definition while a schema is staged. Only version 4 returns this error. */
export const stagedSchemaText: Message = msg`Cannot update schema from FQL v4 if schema has been staged.`

/**
 * Returns why a document violates the definition of its collection, for operations without a query language, such as
 * imports.
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

/**
 * The error texts for changes that a protected database rejects. A *backing index* is an index with a name, or the
 * stored index of an index or unique constraint in a collection's definition.
 */
export const destructiveTexts: Readonly<Record<DestructiveChange, string>> = {
  'delete collection': 'Cannot delete collection',
  'delete index': 'Cannot cause deletion of backing index',
  'decrease history_days': 'Cannot decrease `history_days` field',
  'remove history_days': 'Cannot remove `history_days` field',
  'decrease ttl_days': 'Cannot decrease `ttl_days` field',
  'remove ttl_days': 'Cannot remove `ttl_days` field',
}
