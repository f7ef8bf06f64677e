// What a new definition of a collection means for its documents: steps that they take, or everything that is wrong with
// its statements. Rules: FQL v10 reference, migrations, 1 and 4.

import type { FindCollection } from '../../../model/session.ts'
import type { Diagnostic } from '../../failure/failure.ts'
import { isSameTree } from '../fsl/diff/same-tree.ts'
import { comparisonFaults } from './compare.ts'
import type { Declaration, Statement } from './declaration.ts'
import type { PlannedStep } from './planned-step.ts'
import { Rewinder } from './rewind.ts'
import { shapeOf } from './shape.ts'

/** How documents get from one definition to another. */
export interface MigrationPlan {
  /** In the order of time; none where something is wrong. */
  readonly steps: readonly PlannedStep[]
  /** The statements that are new, which the steps come from. */
  readonly statements: readonly Statement[]
  readonly faults: readonly Diagnostic[]
}

/**
 * The plan for a definition that takes the place of `live`; `live` is undefined for a collection without documents, whose
 * statements have to be consistent in themselves and lead to no steps.
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

/** The statements behind those that are done: the longest beginning of the new list that the old one ends with. */
function newStatements(submitted: readonly Statement[], live: readonly Statement[]): readonly Statement[] {
  for (let done = Math.min(submitted.length, live.length); done > 0; done--) {
    const tail = live.slice(live.length - done)
    if (tail.every((statement, index) => isSameTree(statement.node, submitted[index]?.node)))
      return submitted.slice(done)
  }
  return submitted
}
