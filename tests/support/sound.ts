// Checks data directories in the test's own process, as `terrarium check` does in a process of its own: the process costs
// half a second of CPU time, the check itself some 20 milliseconds.

import assert from 'node:assert/strict'
import { readConfig } from '../../src/app/config/read-config.ts'
import { openEngine } from '../../src/app/open-engine.ts'
import { openServiceLog } from '../../src/server/service-log.ts'
import { storeBytes } from '../../src/storage/log/store-copy.ts'

/** The data directory must have data, and no server may have it open. */
export async function assertSound(data: string): Promise<void> {
  assert.ok(storeBytes(data) > 0, `there is no data in ${data}`)
  const config = readConfig(new Map([['data', { value: data, where: '--data' }]]), process.env)
  const opened = await openEngine(config, openServiceLog('silent'))
  try {
    assert.deepEqual([...opened.store.check()], [], `the data directory ${data} is not sound`)
  } finally {
    await opened.close()
  }
}
