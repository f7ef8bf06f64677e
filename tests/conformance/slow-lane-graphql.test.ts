// Plays the conformance cases of `graphql/` with a slow lane that evaluates every operation. Each case has a database and
// a key of its own, so the file takes more than 20 seconds.

import { test } from 'node:test'
import { startProcess } from '../support/server-process.ts'
import { assertAllPass, playGraphql } from './play.ts'

test('all GraphQL cases pass in the slow lane', async () => {
  const server = await startProcess({ flags: ['--slow-lane-after-ms', '0'] })
  assertAllPass(await playGraphql(server).finally(() => server.stop()))
})
