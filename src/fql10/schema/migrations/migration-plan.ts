// Plans the migration of a collection's documents to a new definition, and reports the faults of its statements. Rules:
// FQL v10 reference, migrations, 1 and 4.

import type { FindCollection } from '../../../model/session.ts'
import type { Diagnostic } from '../../failure/query-failure.ts'
import { isSameTree } from '../fsl/diff/same-tree.ts'
import { comparisonFaults } from './compare.ts'
import type { Declaration, Statement } from './declaration.ts'
import { shapeOf } from './document-shape.ts'
import type { PlannedStep } from './planned-step.ts'
import { Rewinder } from './rewind.ts'

/** The migration of documents from one definition to another. */
export interface MigrationPlan {
  /** The steps in the order of execution. Empty if there are faults. */
  readonly steps: readonly PlannedStep[]
  /** The new statements, from which the steps result. */
  readonly statements: readonly Statement[]
  readonly faults: readonly Diagnostic[]
}

/**
 * Plans a migration. `live` is the current definition; undefined for a collection without documents. Without `live`,
 * the statements must be consistent, but the plan has no steps.
 */
export function planMigration(
  submitted: Declaration,
  live: Declaration | undefined,
  find: FindCollection,
): MigrationPlan {
  const statements =
    live === undefined ? submitted.statements : newStatements(submitted.statements, live.statements)
  const rewinder = new Rewinder(shapeOf(submitted, find), submitted)
  for (const statement of statements.toReversed()) rewinder.rewind(statement)
  rewinder.finish()
  const { faults, shape, steps } = rewinder
  if (faults.length > 0) return { steps: [], statements, faults }
  if (live === undefined) return { steps: [], statements: [], faults: [] }
  const differences = comparisonFaults(shape, shapeOf(live, find), submitted)
  return { steps: differences.length > 0 ? [] : steps.toReversed(), statements, faults: differences }
}

/**
 * The statements that were not executed yet. The executed ones are the longest prefix of the new list that is a suffix
 * of the old list.
 */
function newStatements(submitted: readonly Statement[], live: readonly Statement[]): readonly Statement[] {
  for (let done = Math.min(submitted.length, live.length); done > 0; done--) {
    const tail = live.slice(live.length - done)
    if (tail.every((statement, index) => isSameTree(statement.node, submitted[index]?.node)))
      return submitted.slice(done)
  }
  return submitted
}
