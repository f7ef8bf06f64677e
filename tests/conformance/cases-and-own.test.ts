// Plays the conformance cases of `cases/` and `own/` without a slow lane. They are some 1 900, so the file takes more
// than 20 seconds.

import { test } from 'node:test'
import { assertAsListed } from './play.ts'

/** Cases that need the stack size of the slow lane, which is twice that of the service. */
const deepStackCases = ['own/v10/functions call themselves to the limit, whatever is around the calls']

test('exactly the cases on the list of expected failures fail', t =>
  assertAsListed(t, { folders: ['cases', 'own'], isInSlowLane: false, except: deepStackCases }))
