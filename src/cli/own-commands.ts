// Commands that a service starts over its own data: the same program again, with the same data directory and store.

import { type ChildProcess, spawn } from 'node:child_process'
import { programFile } from '../base/program-files.ts'
import { variableOf } from '../config/read-config.ts'
import type { Config, SettingName } from '../config/settings.ts'

const program = programFile('cli/main.ts')

const passedOn = ['data', 'store', 'storeSchema'] as const satisfies readonly SettingName[]

/** Starts a command over the data of `config`; standard error can be read. */
export function startOwnCommand(config: Config, words: readonly string[]): ChildProcess {
  // What the service was told otherwise (a file, say) is in the settings already.
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('TERRARIUM_'))
  const env: NodeJS.ProcessEnv = Object.fromEntries(others)
  for (const name of passedOn) env[variableOf(name)] = config[name]
  // A worker of node:cluster would hand on that it is one.
  delete env.NODE_UNIQUE_ID
  return spawn(process.execPath, [...process.execArgv, program, ...words], {
    env,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
}
