// The state that the statements of a migration share while they are rewound.

import type { Message } from '../../../base/message.ts'
import type { FieldType } from '../../../model/schema/field-types.ts'
import type { FieldNames } from '../../../model/schema/migration-steps.ts'
import type { Diagnostic, Remark } from '../../failure/query-failure.ts'
import type { Span } from '../../syntax/source.ts'
import type { DeclaredExpression, PlannedStep } from './declaration.ts'
import type { Field, FieldLookup, FieldOrigin, StructShape } from './document-shape.ts'

export type At = Extract<FieldLookup, { kind: 'place' }>

export interface RewindContext {
  readonly shape: StructShape
  readonly faults: Diagnostic[]
  readonly steps: PlannedStep[]
  reject(message: Message, span: Span | undefined, ...remarks: readonly Remark[]): undefined
  valueFor(field: Field, path: FieldNames, span: Span | undefined): DeclaredExpression | undefined
  mark(at: At, field: Field, origin: FieldOrigin): void
  appear(at: At, path: FieldNames, content: FieldType, origin: FieldOrigin): void
}
