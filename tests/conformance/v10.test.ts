// Plays the conformance cases of `v10/` without a slow lane. They are some 2 100, so the file takes more than 20 seconds.

import { test } from 'node:test'
import { assertAsListed } from './play.ts'

test('exactly the cases on the list of expected failures fail', t =>
  assertAsListed(t, { folders: ['v10'], isInSlowLane: false }))
