// The settings of a service in a test: the defaults, but with a low cost of password hashes.

import { readConfig } from '../../src/app/config/read-config.ts'
import type { Config } from '../../src/app/config/settings.ts'

export function testConfig(given: Partial<Config> = {}): Config {
  return { ...readConfig(new Map(), {}), passwordCost: 4, ...given }
}
