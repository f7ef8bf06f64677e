// A slow-lane process requests ids from the service, which cannot reserve ids while its store accepts no writes. The
// query then fails with the same error as every other writing query, not with an internal error.

import assert from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { test } from 'node:test'
import { sendFrame } from '../../src/base/frames.ts'
import type { ToLane } from '../../src/engine/slow-lane/messages.ts'
import { LaneService } from '../../src/engine/slow-lane/serve-jobs.ts'
import { StoreUnavailableError } from '../../src/storage/store/store-contract.ts'

test('a query whose ids cannot be reserved fails because the store is not available', async () => {
  const [lane, service] = duplexPair()
  const jobs = new LaneService<undefined>(lane, () => assert.fail('nothing is set up'))
  const rejected = assert.rejects(jobs.reserveIds(undefined), StoreUnavailableError)
  sendFrame(service, { kind: 'ids', range: undefined } satisfies ToLane)
  await rejected
  lane.destroy()
  service.destroy()
})
