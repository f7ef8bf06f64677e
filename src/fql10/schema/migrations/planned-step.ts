// Steps of a migration before its values have been computed.

import type { Step } from '../../../model/schema/migration-steps.ts'
import type { DeclaredExpression } from './declaration.ts'

/** Where the value of a field comes from for documents that have none. */
export interface Filler {
  readonly kind: 'backfill' | 'default'
  readonly expression: DeclaredExpression
}

/** A step whose values are not known yet. */
export type PlannedStep = Step<Filler | undefined>
