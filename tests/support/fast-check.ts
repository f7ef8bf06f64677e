// Configures fast-check with the seed of the run: each run of `npm test` tries the same values, and each run of `npm
// run test:soak` tries other values. fast-check prints the seed of a failure.

import fc from 'fast-check'
import { suite } from './suite.ts'

if (suite !== 'soak') fc.configureGlobal({ seed: 20_261_121 })

export { fc }
