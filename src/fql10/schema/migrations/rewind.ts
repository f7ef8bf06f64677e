// Rewinds migration statements, starting with the last one. The shape of the documents after a statement is known.
// Rewinding the statement computes their shape before the statement runs, and adds a migration step. Inconsistent
// statements are recorded as faults. Rules: FQL v10 reference, migrations, 4 and 5.

import { unreachable } from '../../../base/assert.ts'
import { type Message, msg, own } from '../../../base/message.ts'
import { anyType, type FieldType, providedText, typeText } from '../../../model/schema/field-types.ts'
import type { FieldNames } from '../../../model/schema/migration-steps.ts'
import { pathSpelling } from '../../../model/schema/paths.ts'
import { typeFailures } from '../../../model/schema/type-check.ts'
import type { Value } from '../../../values/value.ts'
import type { Diagnostic, Remark } from '../../failure/query-failure.ts'
import type { Node } from '../../syntax/nodes.ts'
import type { Span } from '../../syntax/source.ts'
import type { FieldPathPlace } from '../fsl/outline.ts'
import {
  type Declaration,
  type DeclaredExpression,
  type PlannedStep,
  type Statement,
  spanIn,
} from './declaration.ts'
import {
  copyOf,
  type Field,
  type FieldLookup,
  type FieldOrigin,
  fieldAt,
  find,
  hasWildcard,
  isPresent,
  isStruct,
  mayBeAbsent,
  nameInStatement,
  openDropped,
  type StructShape,
  shownField,
  typeOf,
} from './document-shape.ts'
import {
  behind,
  fault,
  hint,
  removal,
  statements,
  suggestion,
  valueHints,
  wildcardSuggestion,
} from './hints.ts'
import { rewindSplit } from './split.ts'

type At = Extract<FieldLookup, { kind: 'place' }>

/** Each rewind changes the shape that was passed to the constructor. */
export class Rewinder {
  readonly shape: StructShape
  readonly declaration: Declaration
  readonly faults: Diagnostic[] = []
  /** In reverse order. */
  readonly steps: PlannedStep[] = []
  /** Set by the rewind of a `move_conflicts` statement. */
  #movesConflicts = false

  constructor(shape: StructShape, declaration: Declaration) {
    this.shape = shape
    this.declaration = declaration
  }

  /** All later statements must already be rewound. */
  rewind(statement: Statement): undefined {
    const { node } = statement
    switch (node.kind) {
      case 'add':
        return this.#add(node.field, statement)
      case 'backfill':
        return this.#backfill(node.field, statement)
      case 'drop':
        return this.#drop(node.field, statement)
      case 'move':
        return this.#move(node.field, node.to, statement)
      case 'split':
        return rewindSplit(node, statement, this)
      case 'move_conflicts':
        return this.#moveConflicts(node.into, statement)
      case 'move_wildcard':
        return this.#moveWildcard(node.into, statement)
      case 'add_wildcard':
        return this.#addWildcard(statement)
      default:
        return unreachable(node)
    }
  }

  #reject(message: Message, span: Span | undefined, ...remarks: readonly Remark[]): undefined {
    this.faults.push(fault(message, span, ...remarks))
  }

  /** Reports backfills without a matching `add` or `split`, after all statements are rewound. */
  finish(): void {
    this.#rejectPending(this.shape)
  }

  #rejectPending({ fields }: StructShape): void {
    for (const { content, origin, path } of fields.values()) {
      if (origin.kind === 'backfilled') {
        const { by } = origin
        const message = msg`Field ${shownField(path)} is backfilled without being declared by an \`add\` or \`split\` migration`
        this.#reject(message, spanIn(by, by.node))
      } else if (isStruct(content)) this.#rejectPending(content)
    }
  }

  mark({ name, struct }: At, field: Field, origin: FieldOrigin): void {
    struct.fields.set(name, { ...field, origin })
  }

  // ------------------------------------------------------------------------------------------- add

  #add(path: FieldPathPlace, statement: Statement): undefined {
    const span = spanIn(statement, path)
    const at = find(this.shape, path.path)
    const field = fieldAt(at)
    const shown = shownField(path.path)
    if (at.isInOpenObject) {
      return this.#reject(msg`Cannot add field, as there is a wildcard in the same struct as ${shown}`, span)
    }
    if (at.kind !== 'place' || field === undefined) {
      return this.#reject(msg`Cannot add field, as ${shown} is not in the submitted schema`, span)
    }
    if (!isPresent(field)) {
      this.faults.push(this.#addedTwice(field, path, statement))
      return
    }
    if (at.isTop && hasWildcard(this.shape) && !this.#movesConflicts) {
      if (typeOf(field.content).kind !== 'any') {
        const text = '\n    move_conflicts .conflicts'
        const remark = behind('Add a `move_conflicts` migration', spanIn(statement, statement.node), text)
        this.#reject(msg`Cannot add field, as ${shown} conflicts with the wildcard`, span, remark)
      }
    } else {
      const value = this.valueFor(field, path.path, span)
      this.steps.push({ kind: 'add', path: path.path, type: typeOf(field.content), value })
    }
    this.mark(at, field, { kind: 'added', by: statement })
  }

  #addedTwice({ origin }: Field, path: FieldPathPlace, statement: Statement): Diagnostic {
    const span = spanIn(statement, path)
    const shown = shownField(path.path)
    if (origin.kind === 'split into') {
      const message = msg`Cannot split field: field ${shown} cannot both be added and be a split output`
      return fault(
        message,
        span,
        hint('Field is an output of a split', spanIn(origin.by, origin.target)),
        removal('Remove the add', statement),
        removal('Remove the split', origin.by),
      )
    }
    if (origin.kind === 'moved into') {
      const message = msg`Cannot move into field ${shown} as it was also added`
      const { by } = origin
      const target = by.node.kind === 'move' ? by.node.to : by.node
      return fault(
        message,
        spanIn(by, by.node),
        hint('Field moved into here', spanIn(by, target)),
        removal('Remove the add', statement),
        removal('Remove the move', by),
      )
    }
    const later = origin.kind === 'declared' ? statement : origin.by
    const laterPath = later.node.kind === 'add' ? later.node.field : later.node
    return fault(
      msg`Cannot add field ${shown} twice`,
      spanIn(later, laterPath),
      hint('Field added here', span),
      removal('Remove the extra add', later),
    )
  }

  /**
   * The value is for documents that lack the field. Records a fault at `span` if the field requires a value, but has
   * neither a backfill nor a default.
   */
  valueFor(
    { content, defaultValue, origin, typeSpan }: Field,
    path: FieldNames,
    span: Span | undefined,
  ): DeclaredExpression | undefined {
    if (origin.kind === 'backfilled' && origin.by.value !== undefined) return origin.by.value
    if (defaultValue !== undefined) return defaultValue
    if (mayBeAbsent(typeOf(content))) return undefined
    const shown = pathSpelling(path)
    const message = msg`Cannot declare non-nullable field \`${shown}\`: it has no default and no backfill value`
    const { defaulted, nullable } = valueHints(typeSpan)
    const added = statements('Add a `backfill` migration', this.declaration, [`backfill ${shown} = <expr>`])
    this.#reject(message, span, nullable, defaulted, added)
    return undefined
  }

  // -------------------------------------------------------------------------------------- backfill

  #backfill(path: FieldPathPlace, statement: Statement): undefined {
    const span = spanIn(statement, path)
    const at = find(this.shape, path.path)
    const shown = shownField(path.path)
    if (at.isInOpenObject) {
      return this.#reject(
        msg`Cannot backfill field, as there is a wildcard in the same struct as ${shown}`,
        span,
      )
    }
    const field = fieldAt(at)
    if (at.kind !== 'place' || field === undefined || field.origin.kind === 'moved into') {
      return this.#reject(msg`Cannot backfill field ${shown}, as it is not in the submitted schema`, span)
    }
    const invalid = this.#backfillFault(field, path, statement)
    if (invalid !== undefined) {
      this.faults.push(invalid)
      return
    }
    const { content, typeSpan } = field
    const wrong = statement.value && staticFault(statement.value.node, typeOf(content))
    if (wrong !== undefined && statement.node.kind === 'backfill') {
      const where = hint('Field type defined here', typeSpan)
      this.#reject(msg`${wrong}`, spanIn(statement, statement.node.value), where)
    }
    this.mark(at, field, { kind: 'backfilled', by: statement })
  }

  #backfillFault({ origin }: Field, path: FieldPathPlace, statement: Statement): Diagnostic | undefined {
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

  // ------------------------------------------------------------------------------------ drop, move

  #drop(path: FieldPathPlace, statement: Statement): undefined {
    const span = spanIn(statement, path)
    const at = find(this.shape, path.path)
    if (at.kind !== 'place' || find(this.shape, path.path.slice(0, -1)).isInOpenObject) {
      const why = own(
        at.kind === 'no object' ? 'the parent is not an object' : 'the parent object was removed',
      )
      return this.#reject(msg`Cannot drop field ${shownField(path.path)}, as ${why}`, span)
    }
    const { field } = at
    if (field !== undefined && isPresent(field)) {
      const message = msg`Cannot drop field ${shownField(path.path)}. Dropped fields must be removed from schema`
      return this.#reject(message, span, hint('Field defined here', placeOf(field)))
    }
    this.steps.push({ kind: 'drop', path: path.path })
    this.appear(at, path.path, anyType, { kind: 'dropped', by: statement })
  }

  /** Adds a field that documents have before a statement, but not after it. */
  appear({ name, struct }: At, path: FieldNames, content: FieldType, origin: FieldOrigin): void {
    struct.fields.set(name, { path, origin, content })
  }

  #move(from: FieldPathPlace, to: FieldPathPlace, statement: Statement): undefined {
    openDropped(this.shape, from.path)
    const target = find(this.shape, to.path)
    const source = find(this.shape, from.path)
    const invalid = this.#moveFault(from, to, source, target, statement)
    if (invalid !== undefined) {
      this.faults.push(invalid)
      return
    }
    const moved = fieldAt(target)
    if (source.kind !== 'place' || target.kind !== 'place' || moved === undefined) return
    const { field: left } = source
    if (left !== undefined && isPresent(left) && left.defaultValue !== undefined) {
      const { content, defaultValue: value } = left
      this.steps.push({ kind: 'add', path: from.path, type: typeOf(content), value })
    }
    this.steps.push({ kind: 'move', from: from.path, to: to.path })
    this.mark(target, moved, { kind: 'moved into', by: statement })
    // The content is copied, because the target may contain the source.
    const content = copyOf(moved.content)
    const nameSpan = isPresent(moved) ? moved.nameSpan : nameInStatement(statement, from.path)
    source.struct.fields.set(source.name, { ...moved, path: from.path, content, nameSpan })
  }

  #moveFault(
    from: FieldPathPlace,
    to: FieldPathPlace,
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
    if (source.kind !== 'place') {
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
      hint('Field defined here', placeOf(field)),
      behind(again, spanIn(statement, to), `\n    add ${pathSpelling(from.path)}`),
    )
  }

  // -------------------------------------------------------------------------------------- wildcards

  #moveConflicts(into: FieldPathPlace, statement: Statement): undefined {
    const span = spanIn(statement, into)
    if (!hasWildcard(this.shape)) {
      const message = msg`Cannot move wildcard conflicts, as there is no wildcard in the submitted schema`
      const otherwise = 'Move the extra fields into a conflicts field with `move_wildcard`'
      this.#reject(
        message,
        span,
        wildcardSuggestion('Add a wildcard constraint', this.declaration),
        statements(otherwise, this.declaration, [`move_wildcard ${pathSpelling(into.path)}`]),
      )
    } else this.#checkConflictsField(into, span)
    this.#movesConflicts = true
    this.steps.push({ kind: 'move conflicts', into: into.path[0] ?? '' })
  }

  /** The conflicts field must have the type `{ *: Any } | Null`. */
  #checkConflictsField({ path }: FieldPathPlace, span: Span | undefined): undefined {
    const at = find(this.shape, path)
    const field = at.kind === 'place' && at.isTop ? at.field : undefined
    if (field === undefined || !isPresent(field)) {
      const why = msg`as it is not in the submitted schema`
      return this.#reject(msg`Cannot move wildcard conflicts to field ${shownField(path)}, ${why}`, span)
    }
    if (field.origin.kind === 'dropped' || conflictTypes.has(typeText(typeOf(field.content)))) return
    this.#reject(msg`Wildcard conflicts field must have the type \`{ *: Any } | Null\``, span)
  }

  #moveWildcard(into: FieldPathPlace, statement: Statement): undefined {
    const span = spanIn(statement, into)
    const { fields } = this.shape
    if (hasWildcard(this.shape)) {
      const message = msg`Cannot move wildcard, as there is still a wildcard in the submitted schema`
      return this.#reject(message, span)
    }
    this.#checkConflictsField(into, span)
    const keep = Array.from(fields.values()).flatMap(field =>
      isPresent(field) ? [field.path.at(-1) ?? ''] : [],
    )
    this.steps.push({ kind: 'move wildcard', into: into.path[0] ?? '', keep })
    this.shape.wildcard = { type: anyType, span }
  }

  #addWildcard(statement: Statement): undefined {
    const span = spanIn(statement, statement.node)
    const { wildcard } = this.shape
    if (wildcard === undefined) {
      this.#reject(msg`Cannot add wildcard, as the submitted schema lacks a wildcard`, span)
    } else if (wildcard.addedBy !== undefined) {
      const { addedBy } = wildcard
      const remark = removal('Remove the duplicate `add_wildcard` migration', addedBy)
      this.#reject(msg`Cannot add a wildcard twice`, spanIn(addedBy, addedBy.node), remark)
    } else this.shape.wildcard = { ...wildcard, addedBy: statement }
  }
}

const conflictTypes: ReadonlySet<string> = new Set(['{ *: Any } | Null', 'Null | { *: Any }'])

/** Points to the declaration of a field, or to the statement that creates the field. */
function placeOf({ nameSpan, origin, path }: Field): Span | undefined {
  if (nameSpan !== undefined || !('by' in origin)) return nameSpan
  const { by } = origin
  if (origin.kind === 'dropped') return nameInStatement(by, path)
  return spanIn(by, 'field' in by.node ? by.node.field : by.node)
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
