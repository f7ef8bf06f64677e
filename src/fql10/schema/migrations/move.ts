// Rewinds (undoes) `drop` and `move` statements. A dropped field exists before the statement. A moved field has its old
// name before the statement.

import { msg, own } from '../../../base/message.ts'
import { anyType } from '../../../model/schema/field-types.ts'
import { pathSpelling } from '../../../model/schema/paths.ts'
import type { Diagnostic } from '../../failure/query-failure.ts'
import type { Span } from '../../syntax/source.ts'
import type { OutlineFieldPath } from '../fsl/outline.ts'
import { type Statement, spanIn } from './declaration.ts'
import {
  copyOf,
  expandDroppedParents,
  type Field,
  type FieldLookup,
  fieldAt,
  find,
  isPresent,
  mayBeAbsent,
  nameInStatement,
  shownField,
  typeOf,
} from './document-shape.ts'
import { fault, hint, insertAfter, removal } from './hints.ts'
import type { RewindContext } from './rewind-context.ts'

export function rewindDrop(path: OutlineFieldPath, statement: Statement, rewinder: RewindContext): undefined {
  const span = spanIn(statement, path)
  const at = find(rewinder.shape, path.path)
  // The object that contains the field may have a wildcard, but no object around it.
  if (at.kind !== 'slot' || find(rewinder.shape, path.path.slice(0, -1)).isInOpenObject) {
    const why = own(at.kind === 'no object' ? 'the parent is not an object' : 'the parent object was removed')
    return rewinder.reject(msg`Cannot drop field ${shownField(path.path)}, as ${why}`, span)
  }
  const { field } = at
  if (field !== undefined && isPresent(field)) {
    const message = msg`Cannot drop field ${shownField(path.path)}. Dropped fields must be removed from schema`
    return rewinder.reject(message, span, hint('Field defined here', definitionSpan(field)))
  }
  rewinder.steps.push({ kind: 'drop', path: path.path })
  rewinder.addField(at, path.path, anyType, { kind: 'dropped', by: statement })
}

export function rewindMove(
  from: OutlineFieldPath,
  to: OutlineFieldPath,
  statement: Statement,
  rewinder: RewindContext,
): undefined {
  expandDroppedParents(rewinder.shape, from.path)
  const target = find(rewinder.shape, to.path)
  const source = find(rewinder.shape, from.path)
  const invalid = moveFault(from, to, source, target, statement)
  if (invalid !== undefined) {
    rewinder.faults.push(invalid)
    return
  }
  const moved = fieldAt(target)
  if (source.kind !== 'slot' || target.kind !== 'slot' || moved === undefined) return
  const { field: remaining } = source
  // The source is also a field after the move: documents then get its default. Steps are recorded in reverse order.
  if (remaining !== undefined && isPresent(remaining) && remaining.defaultValue !== undefined) {
    const { content, defaultValue: value } = remaining
    rewinder.steps.push({ kind: 'add', path: from.path, type: typeOf(content), value })
  }
  rewinder.steps.push({ kind: 'move', from: from.path, to: to.path })
  rewinder.setOrigin(target, moved, { kind: 'moved into', by: statement })
  // The content is copied, because the target may contain the source.
  const content = copyOf(moved.content)
  const nameSpan = isPresent(moved) ? moved.nameSpan : nameInStatement(statement, from.path)
  source.struct.fields.set(source.name, { ...moved, path: from.path, content, nameSpan })
}

function moveFault(
  from: OutlineFieldPath,
  to: OutlineFieldPath,
  source: FieldLookup,
  target: FieldLookup,
  statement: Statement,
): Diagnostic | undefined {
  const span = spanIn(statement, from)
  const shown = shownField(from.path)
  if (pathSpelling(from.path) === pathSpelling(to.path)) {
    const remark = removal('Remove the futile `move`', statement)
    return fault(msg`Cannot move a field to itself`, span, remark)
  }
  if (target.isInOpenObject) {
    const message = msg`Cannot move field ${shownField(to.path)} into a struct with a wildcard definition`
    return fault(message, spanIn(statement, to))
  }
  if (fieldAt(target) === undefined)
    return fault(msg`Cannot move field ${shown}, as it is not in the live schema`, span)
  if (source.kind !== 'slot') {
    const why =
      source.kind === 'no parent' ? 'the parent object was removed.' : 'the parent value is not an object.'
    return fault(msg`Cannot move field ${shown}, as ${why}`, span)
  }
  if (source.isInOpenObject)
    return fault(msg`Cannot move field ${shown} out of a struct with a wildcard definition`, span)
  const { field } = source
  if (field === undefined || !isPresent(field)) return undefined
  if (field.defaultValue !== undefined || mayBeAbsent(typeOf(field.content))) return undefined
  const name = from.path.at(-1) ?? ''
  const again = `To move ${shown} to ${shownField(to.path)} and add a new field named \`${name}\`, add an \`add\` migration`
  return fault(
    msg`Cannot move field ${shown}, as it is in the submitted schema`,
    span,
    hint('Field defined here', definitionSpan(field)),
    insertAfter(again, spanIn(statement, to), `\n    add ${pathSpelling(from.path)}`),
  )
}

/** Points to the declaration of a field, or to the statement that creates the field. */
function definitionSpan({ nameSpan, origin, path }: Field): Span | undefined {
  if (nameSpan !== undefined || !('by' in origin)) return nameSpan
  const { by } = origin
  if (origin.kind === 'dropped') return nameInStatement(by, path)
  return spanIn(by, 'field' in by.node ? by.node.field : by.node)
}
