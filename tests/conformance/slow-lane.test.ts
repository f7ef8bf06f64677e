// Plays every conformance case with all queries evaluated in processes of the slow lane. The responses must be the
// same. There are about four thousand cases.

import { after, before, test } from 'node:test'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { assertAsListed } from './play.ts'

let server: ServerProcess
before(async () => {
  server = await startProcess({ flags: ['--slow-lane-after-ms', '0'] })
})
after(() => server?.stop())

test('the conformance cases give the same responses in the slow lane', t => assertAsListed(server, t))
