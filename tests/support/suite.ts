// The command that this test process belongs to. scripts/test.ts passes it on in the environment.

import type { Suite } from '../../scripts/test-plan.ts'

/** Name of the environment variable that holds the suite. */
export const suiteVariable = 'TEST_SUITE'

/** The suite that runs; undefined when the file is run by itself. */
export const suite = process.env[suiteVariable] as Suite | undefined

/** Name of the environment variable with the minutes for which a soak tries each law (`--minutes`). */
export const minutesVariable = 'TEST_MINUTES'

/** The minutes for which a soak tries each law; one by default. */
export const soakMinutes = Number(process.env[minutesVariable] ?? 1)
