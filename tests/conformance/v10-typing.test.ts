// Plays the conformance cases of `v10-typing/` without a slow lane. They are some 740, so the file may take more than 20
// seconds.

import { test } from 'node:test'
import { assertAsListed } from './play.ts'

test('exactly the cases on the list of expected failures fail', t =>
  assertAsListed(t, { folders: ['v10-typing'], isInSlowLane: false }))
