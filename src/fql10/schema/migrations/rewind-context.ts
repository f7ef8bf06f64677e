// The interface of the class `Rewinder` (rewind.ts) for the files that rewind single kinds of statements.

import type { Message } from '../../../base/message.ts'
import type { FieldType } from '../../../model/schema/field-types.ts'
import type { FieldNames } from '../../../model/schema/migration-steps.ts'
import type { Diagnostic, Remark } from '../../failure/query-failure.ts'
import type { Span } from '../../syntax/source.ts'
import type { DeclaredExpression, PlannedStep } from './declaration.ts'
import type { Field, FieldLookup, FieldOrigin, StructShape } from './document-shape.ts'

/** The object that contains a field, or lacks it, and the name of the field. */
export type FieldSlot = Extract<FieldLookup, { kind: 'slot' }>

export interface RewindContext {
  readonly shape: StructShape
  readonly faults: Diagnostic[]
  readonly steps: PlannedStep[]
  reject(message: Message, span: Span | undefined, ...remarks: readonly Remark[]): undefined
  valueFor(field: Field, path: FieldNames, span: Span | undefined): DeclaredExpression | undefined
  setOrigin(at: FieldSlot, field: Field, origin: FieldOrigin): void
  addField(at: FieldSlot, path: FieldNames, content: FieldType, origin: FieldOrigin): void
}
