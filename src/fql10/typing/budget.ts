// Limits the work of one check. The types of some programs are exponentially large, or deeply nested. A check that
// exceeds its budget ends, and the program is accepted, because a missing error is better than a wrong one.

import { catchError } from '../../base/catch-error.ts'
import { step } from '../../base/effort.ts'

/** The maximum number of steps of one check. A step takes 1 to 20 microseconds. */
const stepsMax = 60_000

/** A step of a check counts as this number of steps of `base/effort.ts`. */
const stepsPerTypeStep = 64

/** The maximum depth of nested checks and copies. Deeper nesting needs more stack than a service has. */
const depthMax = 600

/** Thrown when a check exceeds its budget. */
class BudgetExceeded extends Error {
  override name = 'BudgetExceeded'
}

// Checks are synchronous, so one counter is enough. A check within a check has a budget of its own.
let left = Number.POSITIVE_INFINITY
let depth = 0

export function spend(): void {
  step(stepsPerTypeStep)
  if (--left < 0) throw new BudgetExceeded()
}

/** Counts a step, and a level of nesting until {@link leave}. */
export function enter(): void {
  spend()
  if (++depth > depthMax) throw new BudgetExceeded()
}

export function leave(): void {
  depth--
}

/** If the check exceeds the budget, returns the result of `otherwise`. */
export function bounded<T>(work: () => T, otherwise: () => T): T {
  const outer = { left, depth }
  left = stepsMax
  depth = 0
  try {
    return catchError(BudgetExceeded, work, otherwise)
  } finally {
    left = outer.left
    depth = outer.depth
  }
}
