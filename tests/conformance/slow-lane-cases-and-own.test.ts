// Plays the conformance cases of `cases/` and `own/` with all queries evaluated in processes of the slow lane. They are
// some 1 900, so the file takes more than 20 seconds.

import { test } from 'node:test'
import { assertAsListed } from './play.ts'

test('exactly the cases on the list of expected failures fail in the slow lane', t =>
  assertAsListed(t, { folders: ['cases', 'own'], isInSlowLane: true }))
