// The service of a test file, of any kind: in the test's own process, as a process, or with a fake engine.

import assert from 'node:assert/strict'
import { after, before } from 'node:test'

/**
 * Call this at the top of the file or suite, before hooks that use the service and before `folderOfFile`: hooks run in
 * the order of the calls, and a folder may only be removed after the service has stopped. `start` returns undefined if
 * all tests are skipped.
 */
export function serviceOfFile<T extends { stop(): Promise<void> }>(start: () => Promise<T | undefined>): T {
  let started: T | undefined
  before(async () => {
    started = await start()
  })
  after(() => started?.stop())
  return new Proxy({} as T, {
    get(_, name) {
      assert.ok(started, 'the service has not started yet')
      const value = Reflect.get(started, name)
      // A class with private members accepts calls of its instances only.
      return typeof value === 'function' ? value.bind(started) : value
    },
  })
}
