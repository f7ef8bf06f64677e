// The command that this test process belongs to. scripts/test.ts passes it on in the environment.

import type { Suite } from '../../scripts/test-plan.ts'

export const suiteVariable = 'TEST_SUITE'

/** The suite of this run, or undefined if a test file is run by itself. */
export const suite = process.env[suiteVariable] as Suite | undefined

/** Minutes for which a soak tries each law (`--minutes`). */
export const minutesVariable = 'TEST_MINUTES'

/** Minutes for each law. */
export const soakMinutes = Number(process.env[minutesVariable] ?? 1)
