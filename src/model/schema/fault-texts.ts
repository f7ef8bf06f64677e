// What a value of the wrong type is told by. Both languages say it in the same sentences.

import { type Message, msg } from '../../base/message.ts'
import type { FailedCheck, Fault, FieldPath, TypeFault } from '../failure.ts'

/** The sentence of a fault, without its place. */
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

/** `a or b`, `a, b, or c`. */
function alternatives(texts: readonly string[]): string {
  const last = texts.at(-1) ?? ''
  return texts.length < 3 ? texts.join(' or ') : `${texts.slice(0, -1).join(', ')}, or ${last}`
}

/** Fields beside the data; data fields of these names are shown with `data` before them. */
const metadata = new Set<string | number>(['id', 'ts', 'ttl'])

/** A place in a document as users see it: fields of the data stand at the top. */
export function shownPath(path: FieldPath): FieldPath {
  const [top, name] = path
  return top === 'data' && name !== undefined && !metadata.has(name) ? path.slice(1) : path
}

/** A place as text: `a.b[0]`. */
export function pathText(path: FieldPath): string {
  return path
    .map((each, index) => (typeof each === 'number' ? `[${each}]` : index === 0 ? each : `.${each}`))
    .join('')
}

/** The sentence of a check that did not pass. */
export function failedCheckText({ name, why }: FailedCheck): Message {
  if (why === 'not met') return msg`Document failed check constraint \`${name}\``
  return msg`Error evaluating check constraint \`${name}\`: function returned a non-boolean value`
}

/** The sentence of a value that version 4 does not have. */
export function foreignValueText({ type }: { readonly type: string }): Message {
  return msg`v10 value has type ${type}, which cannot be represented in v4.`
}

/** The sentence of a definition that may not change while a schema is staged, which only version 4 would do. */
export const stagedSchemaText: Message = msg`Cannot update schema from FQL v4 if schema has been staged.`

/** Why a document is not what its collection asks for, where no language tells it. */
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
