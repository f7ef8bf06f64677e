// Rewinds (undoes) migration statements, starting with the last one. The shape of documents after a statement is known.
// Rewinding the statement computes their shape before the statement runs, and adds a migration step. Inconsistent
// statements are recorded as faults.

import { unreachable } from '../../../base/assert.ts'
import { type Message, msg } from '../../../base/message.ts'
import { anyType, type FieldType, typeText } from '../../../model/schema/field-types.ts'
import type { FieldNames } from '../../../model/schema/migration-steps.ts'
import { pathSpelling } from '../../../model/schema/paths.ts'
import type { Diagnostic, Remark } from '../../failure/query-failure.ts'
import type { Span } from '../../syntax/source.ts'
import type { OutlineFieldPath } from '../fsl/outline.ts'
import { rewindBackfill } from './backfill.ts'
import {
  type Declaration,
  type DeclaredExpression,
  type PlannedStep,
  type Statement,
  spanIn,
} from './declaration.ts'
import {
  type Field,
  type FieldOrigin,
  fieldAt,
  find,
  hasWildcard,
  isPresent,
  isStruct,
  mayBeAbsent,
  type StructShape,
  shownField,
  typeOf,
} from './document-shape.ts'
import { addStatements, fault, hint, insertAfter, removal, valueHints, wildcardLast } from './hints.ts'
import { rewindDrop, rewindMove } from './move.ts'
import type { FieldSlot, RewindContext } from './rewind-context.ts'
import { rewindSplit } from './split.ts'

/** Each rewind changes the shape that was passed to the constructor. */
export class Rewinder implements RewindContext {
  readonly shape: StructShape
  readonly declaration: Declaration
  readonly faults: Diagnostic[] = []
  /** Steps in reverse order. */
  readonly steps: PlannedStep[] = []
  /** True after the rewind of a `move_conflicts` statement. */
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
        return rewindBackfill(node.field, statement, this)
      case 'drop':
        return rewindDrop(node.field, statement, this)
      case 'move':
        return rewindMove(node.field, node.to, statement, this)
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

  reject(message: Message, span: Span | undefined, ...remarks: readonly Remark[]): undefined {
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
        this.reject(message, spanIn(by, by.node))
      } else if (isStruct(content)) this.#rejectPending(content)
    }
  }

  setOrigin({ name, struct }: FieldSlot, field: Field, origin: FieldOrigin): void {
    struct.fields.set(name, { ...field, origin })
  }

  #add(path: OutlineFieldPath, statement: Statement): undefined {
    const span = spanIn(statement, path)
    const at = find(this.shape, path.path)
    const field = fieldAt(at)
    const shown = shownField(path.path)
    if (at.isInOpenObject) {
      return this.reject(msg`Cannot add field, as there is a wildcard in the same struct as ${shown}`, span)
    }
    if (at.kind !== 'slot' || field === undefined) {
      return this.reject(msg`Cannot add field, as ${shown} is not in the submitted schema`, span)
    }
    if (!isPresent(field)) {
      this.faults.push(this.#addedTwice(field, path, statement))
      return
    }
    if (at.isTop && hasWildcard(this.shape) && !this.#movesConflicts) {
      // Documents may already have such a field, with any value. The type `Any` accepts these values without a step.
      if (typeOf(field.content).kind !== 'any') {
        const text = '\n    move_conflicts .conflicts'
        const remark = insertAfter(
          'Add a `move_conflicts` migration',
          spanIn(statement, statement.node),
          text,
        )
        this.reject(msg`Cannot add field, as ${shown} conflicts with the wildcard`, span, remark)
      }
    } else {
      const value = this.valueFor(field, path.path, span)
      this.steps.push({ kind: 'add', path: path.path, type: typeOf(field.content), value })
    }
    this.setOrigin(at, field, { kind: 'added', by: statement })
  }

  #addedTwice({ origin }: Field, path: OutlineFieldPath, statement: Statement): Diagnostic {
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
    const added = addStatements('Add a `backfill` migration', this.declaration, [
      `backfill ${shown} = <expr>`,
    ])
    this.reject(message, span, nullable, defaulted, added)
    return undefined
  }

  /** Adds a field that documents have before a statement, but not after it. */
  addField({ name, struct }: FieldSlot, path: FieldNames, content: FieldType, origin: FieldOrigin): void {
    struct.fields.set(name, { path, origin, content })
  }

  #moveConflicts(into: OutlineFieldPath, statement: Statement): undefined {
    const span = spanIn(statement, into)
    if (!hasWildcard(this.shape)) {
      const message = msg`Cannot move wildcard conflicts, as there is no wildcard in the submitted schema`
      const otherwise = 'Move the extra fields into a conflicts field with `move_wildcard`'
      this.reject(
        message,
        span,
        wildcardLast('Add a wildcard constraint', this.declaration),
        addStatements(otherwise, this.declaration, [`move_wildcard ${pathSpelling(into.path)}`]),
      )
    } else this.#checkConflictsField(into, span)
    this.#movesConflicts = true
    this.steps.push({ kind: 'move conflicts', into: into.path[0] ?? '' })
  }

  /** The conflicts field must have the type `{ *: Any } | Null`. */
  #checkConflictsField({ path }: OutlineFieldPath, span: Span | undefined): undefined {
    const at = find(this.shape, path)
    const field = at.kind === 'slot' && at.isTop ? at.field : undefined
    if (field === undefined || !isPresent(field)) {
      const why = msg`as it is not in the submitted schema`
      return this.reject(msg`Cannot move wildcard conflicts to field ${shownField(path)}, ${why}`, span)
    }
    if (field.origin.kind === 'dropped' || conflictTypes.has(typeText(typeOf(field.content)))) return
    this.reject(msg`Wildcard conflicts field must have the type \`{ *: Any } | Null\``, span)
  }

  #moveWildcard(into: OutlineFieldPath, statement: Statement): undefined {
    const span = spanIn(statement, into)
    const { fields } = this.shape
    if (hasWildcard(this.shape)) {
      const message = msg`Cannot move wildcard, as there is still a wildcard in the submitted schema`
      return this.reject(message, span)
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
      this.reject(msg`Cannot add wildcard, as the submitted schema lacks a wildcard`, span)
    } else if (wildcard.addedBy !== undefined) {
      const { addedBy } = wildcard
      const remark = removal('Remove the duplicate `add_wildcard` migration', addedBy)
      this.reject(msg`Cannot add a wildcard twice`, spanIn(addedBy, addedBy.node), remark)
    } else this.shape.wildcard = { ...wildcard, addedBy: statement }
  }
}

const conflictTypes: ReadonlySet<string> = new Set(['{ *: Any } | Null', 'Null | { *: Any }'])
