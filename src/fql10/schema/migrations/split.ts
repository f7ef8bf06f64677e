// Rewinds (undoes) a `split` statement to compute the shape of documents before the split. In this shape, the target
// fields are absent (unless the source is also a target), and the type of the source is the union of the targets' types
// and null.

import { msg } from '../../../base/message.ts'
import { anyType, nullType } from '../../../model/schema/field-types.ts'
import { isSamePath, pathSpelling } from '../../../model/schema/paths.ts'
import { unionOf } from '../../../model/schema/type-check.ts'
import type { Diagnostic } from '../../failure/query-failure.ts'
import type { OutlineFieldPath } from '../fsl/outline.ts'
import type { MigrationStatement } from '../fsl/schema-items.ts'
import { type Statement, spanIn } from './declaration.ts'
import {
  expandDroppedParents,
  type Field,
  type FieldLookup,
  fieldAt,
  find,
  isPresent,
  shownField,
  typeOf,
} from './document-shape.ts'
import { fault, hint, removal } from './hints.ts'
import type { RewindContext } from './rewind-context.ts'

type SplitNode = Extract<MigrationStatement, { kind: 'split' }>

export function rewindSplit(node: SplitNode, statement: Statement, rewinder: RewindContext): undefined {
  const { faults, shape } = rewinder
  const names = new Set(node.to.map(({ path }) => pathSpelling(path)))
  if (node.to.length < 2 || names.size < node.to.length) {
    const what =
      node.to.length < 2 ? 'at least two fields to split into' : 'list of fields with no duplicates'
    faults.push(fault(msg`Expected ${what}`, spanIn(statement, node)))
    return
  }
  // The source may be in an object that a later statement drops.
  expandDroppedParents(shape, node.field.path)
  const isTarget = node.to.some(({ path }) => isSamePath(path, node.field.path))
  const source = find(shape, node.field.path)
  const invalid = sourceFault(source, isTarget, node, statement)
  if (invalid !== undefined) faults.push(invalid)
  const targets = node.to.map(target => rewindTarget(target, statement, rewinder))
  rewinder.steps.push({ kind: 'split', from: node.field.path, targets })
  // Finds the source again, because rewinding the targets has changed the shape. For example, the parents of the source
  // may no longer exist, or the source is itself a target.
  const slot = find(shape, node.field.path)
  if (slot.kind !== 'slot' || invalid !== undefined) return
  const union = unionOf([...targets.map(({ type }) => type), nullType])
  rewinder.addField(slot, node.field.path, union, { kind: 'split', by: statement })
}

function sourceFault(
  at: FieldLookup,
  isTarget: boolean,
  { field }: SplitNode,
  statement: Statement,
): Diagnostic | undefined {
  if (at.kind !== 'slot') return undefined
  const span = spanIn(statement, field)
  if (at.isInOpenObject) {
    const shown = shownField(field.path)
    return fault(msg`Cannot split field ${shown}, which is in a struct with a wildcard definition`, span)
  }
  if (isTarget || at.field === undefined || !isPresent(at.field)) return undefined
  const { nameSpan, origin } = at.field
  if (origin.kind === 'split' && origin.by.node.kind === 'split') {
    const { by } = origin
    return fault(
      msg`Cannot split field twice`,
      spanIn(by, origin.by.node.field),
      hint('Field is also split here', span),
      removal('Remove this split', statement),
      removal('Remove the later split', by),
    )
  }
  if (origin.kind === 'dropped') {
    return fault(msg`Cannot drop field that was split`, span, removal('Remove the `drop`', origin.by))
  }
  const message = msg`Cannot split field: field is still present in submitted schema`
  return fault(message, span, hint('Field defined here', nameSpan))
}

/** Marks a target field as absent before the split, and returns the target for the migration step. */
function rewindTarget(target: OutlineFieldPath, statement: Statement, rewinder: RewindContext) {
  const { path } = target
  const at = find(rewinder.shape, path)
  const invalid = targetFault(at, target, statement)
  if (invalid !== undefined) rewinder.faults.push(invalid)
  const field = fieldAt(at)
  if (invalid !== undefined || field === undefined || at.kind !== 'slot')
    return { path, type: anyType, value: undefined }
  const value = rewinder.valueFor(field, path, spanIn(statement, target))
  rewinder.setOrigin(at, field, { kind: 'split into', by: statement, target })
  return { path, type: typeOf(field.content), value }
}

function targetFault(
  at: FieldLookup,
  target: OutlineFieldPath,
  statement: Statement,
): Diagnostic | undefined {
  const span = spanIn(statement, target)
  if (at.isInOpenObject) {
    const shown = shownField(target.path)
    return fault(msg`Cannot split into field ${shown}, which is in a struct with a wildcard definition`, span)
  }
  if (at.kind !== 'slot' || at.field === undefined)
    return fault(msg`Cannot split field, as ${shownField(target.path)} is not in the submitted schema`, span)
  return isPresent(at.field) ? undefined : originFault(at.field, target, statement)
}

function originFault({ origin }: Field, target: OutlineFieldPath, statement: Statement): Diagnostic {
  const span = spanIn(statement, target)
  if (origin.kind === 'moved into') {
    const { by } = origin
    return fault(msg`Cannot move into a field that is also a split target`, spanIn(by, by.node))
  }
  if (origin.kind === 'split into') {
    return fault(
      msg`Cannot split into a field that is already split into`,
      spanIn(origin.by, origin.target),
      hint('Field is also split into here', span),
      removal('Remove the later split', origin.by),
    )
  }
  const added = 'by' in origin ? origin.by : statement
  const path = 'field' in added.node ? added.node.field : added.node
  return fault(
    msg`Cannot add a field that is also created by a split`,
    span,
    hint('Field is added here', spanIn(added, path)),
    removal('Remove the add', added),
  )
}
