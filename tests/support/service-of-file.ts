// The service of a test file, of any kind: in the test's own process, as a process, or with a fake engine.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'

/**
 * Call this at the top of the file, before hooks that use the service and before `folderOfFile`: hooks run in the order
 * of the calls, and a folder may only be removed after the service has stopped. The service must not be an instance of
 * a class with private members, because the returned proxy is not such an instance.
 */
export function serviceOfFile<T extends { stop(): Promise<void> }>(start: () => Promise<T>): T {
  let started: T | undefined
  before(async () => {
    started = await start()
  })
  after(() => started?.stop())
  return new Proxy({} as T, {
    get(_, name) {
      assert.ok(started, 'the service has not started yet')
      return Reflect.get(started, name)
    },
  })
}
