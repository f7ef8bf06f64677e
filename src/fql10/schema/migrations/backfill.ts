// Rewinds (undoes) `backfill` statements, which give the value of a field that an earlier `add` or `split` creates.

import { msg } from '../../../base/message.ts'
import { anyType, type FieldType, providedText, typeText } from '../../../model/schema/field-types.ts'
import { typeFailures } from '../../../model/schema/type-check.ts'
import type { Value } from '../../../values/value.ts'
import type { Diagnostic } from '../../failure/query-failure.ts'
import type { Node } from '../../syntax/nodes.ts'
import type { OutlineFieldPath } from '../fsl/outline.ts'
import { type Statement, spanIn } from './declaration.ts'
import { type Field, fieldAt, find, shownField, typeOf } from './document-shape.ts'
import { fault, hint, removal, suggestion } from './hints.ts'
import type { RewindContext } from './rewind-context.ts'

export function rewindBackfill(
  path: OutlineFieldPath,
  statement: Statement,
  rewinder: RewindContext,
): undefined {
  const span = spanIn(statement, path)
  const at = find(rewinder.shape, path.path)
  const shown = shownField(path.path)
  if (at.isInOpenObject) {
    return rewinder.reject(
      msg`Cannot backfill field, as there is a wildcard in the same struct as ${shown}`,
      span,
    )
  }
  const field = fieldAt(at)
  if (at.kind !== 'slot' || field === undefined || field.origin.kind === 'moved into') {
    return rewinder.reject(msg`Cannot backfill field ${shown}, as it is not in the submitted schema`, span)
  }
  const invalid = backfillFault(field, path, statement)
  if (invalid !== undefined) {
    rewinder.faults.push(invalid)
    return
  }
  const { content, typeSpan } = field
  const wrong = statement.value && staticFault(statement.value.node, typeOf(content))
  if (wrong !== undefined && statement.node.kind === 'backfill') {
    const where = hint('Field type defined here', typeSpan)
    rewinder.reject(msg`${wrong}`, spanIn(statement, statement.node.value), where)
  }
  rewinder.setOrigin(at, field, { kind: 'backfilled', by: statement })
}

function backfillFault(
  { origin }: Field,
  path: OutlineFieldPath,
  statement: Statement,
): Diagnostic | undefined {
  const shown = shownField(path.path)
  switch (origin.kind) {
    case 'backfilled': {
      const { by } = origin
      const later = by.node.kind === 'backfill' ? by.node.field : by.node
      return fault(
        msg`Cannot backfill field ${shown} multiple times`,
        spanIn(by, later),
        hint('Earlier backfill defined here', spanIn(statement, path)),
        removal('Delete the later backfill', by),
      )
    }
    case 'added': {
      const { by } = origin
      const here = hint('Field backfilled here', spanIn(statement, statement.node))
      return fault(msg`Cannot add field ${shown} after it's backfilled`, spanIn(by, by.node), here)
    }
    case 'split into': {
      const { by, target } = origin
      const text = textOf(statement)
      return fault(
        msg`Cannot split field ${shown}: cannot split into a field after it's backfilled`,
        spanIn(statement, path),
        hint('Field is an output of a split', spanIn(by, target)),
        suggestion('Move the backfill after the split', spanIn(by, by.node), text),
        removal('Remove the backfill', statement),
        removal('Remove the split', by),
      )
    }
  }
  return undefined
}

function textOf({ node, source }: Statement): string {
  return source === undefined ? '' : source.text.slice(node.start, node.end)
}

/** Checks only constant expressions, because the values of others are known only at run time. */
function staticFault(node: Node, type: FieldType): string | undefined {
  const value = constantOf(node)
  if (value === undefined || typeFailures(type, value, []).length === 0) return undefined
  return `Type \`${providedText(anyType, value)}\` is not a subtype of \`${typeText(type)}\``
}

function constantOf(node: Node): Value | undefined {
  switch (node.kind) {
    case 'literal':
      return node.value
    case 'group':
      return constantOf(node.inner)
    case 'unary': {
      const value = node.operator === '-' ? constantOf(node.operand) : undefined
      return typeof value === 'bigint' || typeof value === 'number' ? -value : undefined
    }
    case 'array': {
      const elements = node.elements.map(constantOf)
      return elements.includes(undefined) ? undefined : elements.filter(each => each !== undefined)
    }
    case 'object': {
      const fields = node.fields.map(([name, value]) => [name, constantOf(value)] as const)
      const known = fields.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
      return known.length === fields.length ? new Map(known) : undefined
    }
    default:
      return undefined
  }
}
