// Steps of a migration whose values are not computed yet.

import type { Step } from '../../../model/schema/migration-steps.ts'
import type { DeclaredExpression } from './declaration.ts'

/** The source of a field's value in existing documents. */
export interface Filler {
  readonly kind: 'backfill' | 'default'
  readonly expression: DeclaredExpression
}

/** A step whose values are not computed yet. */
export type PlannedStep = Step<Filler | undefined>
