// A process of the slow lane asks the service for ids. The service cannot reserve any while its store takes no writes: then
// the query is refused like every other that writes, and not as a fault of the service.

import assert from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { test } from 'node:test'
import { sendFrame } from '../../src/engine/slow-lane/frames.ts'
import type { ToLane } from '../../src/engine/slow-lane/messages.ts'
import { LaneService } from '../../src/engine/slow-lane/serve-jobs.ts'
import { StoreUnavailableError } from '../../src/storage/store/contract.ts'

test('ids that cannot be reserved mean that the store is not available', async () => {
  const [lane, service] = duplexPair()
  const jobs = new LaneService<undefined>(lane, () => assert.fail('nothing is set up'))
  const refused = assert.rejects(jobs.reserveIds(undefined), StoreUnavailableError)
  sendFrame(service, { kind: 'ids', stretch: undefined } satisfies ToLane)
  await refused
  lane.destroy()
  service.destroy()
})
