// An engine in memory for tests of streams. The test controls the time.

import { systemRandom } from '../../src/base/random.ts'
import { openTestEngine, type TestEngineOptions } from '../support/engine.ts'
import { ManualTime } from '../unit/model/auth/support.ts'

export function openManualEngine(settings: TestEngineOptions['settings'] = {}) {
  const time = new ManualTime()
  time.ms = 1_700_000_000_000
  const environment = { clock: time.clock, timers: time, random: systemRandom }
  return Object.assign(openTestEngine({ environment, settings }), { time })
}
