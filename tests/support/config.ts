// The settings of a service in a test: the defaults, and passwords that are hashed fast.

import { readConfig } from '../../src/app/config/read-config.ts'
import type { Config } from '../../src/app/config/settings.ts'

export function testConfig(given: Partial<Config> = {}): Config {
  return { ...readConfig(new Map(), {}), passwordCost: 4, ...given }
}
