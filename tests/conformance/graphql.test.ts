// Plays the conformance cases of `graphql/` without a slow lane. Each case has a database and a key of its own, so the
// file takes more than 20 seconds.

import { test } from 'node:test'
import { startServer } from '../support/server.ts'
import { assertAllPass, playGraphql } from './play.ts'

test('all GraphQL cases pass', async () => {
  const server = await startServer()
  assertAllPass(await playGraphql(server).finally(() => server.stop()))
})
