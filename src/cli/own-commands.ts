// Commands that a service starts over its own data: the same program again, with the same data directory and store, and a lower
// priority once it is loaded.

import type { ChildProcess } from 'node:child_process'
import { lowerPriority } from '../base/low-priority.ts'
import { programFile, startProgram } from '../base/program-files.ts'
import { variableOf } from '../config/read-config.ts'
import type { Config, SettingName } from '../config/settings.ts'

const program = programFile('cli/main.ts')

const passedOn = ['data', 'store', 'storeSchema'] as const satisfies readonly SettingName[]

/** Set for commands that a service has started. */
const ownVariable = 'TERRARIUM_OWN_COMMAND'
/** Steps of priority below that of the service. */
const niceness = 10

/** Starts a command over the data of `config`; standard error can be read. */
export function startOwnCommand(config: Config, words: readonly string[]): ChildProcess {
  // What the service was told otherwise (a file, say) is in the settings already.
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('TERRARIUM_'))
  const env: NodeJS.ProcessEnv = Object.fromEntries(others)
  for (const name of passedOn) env[variableOf(name)] = config[name]
  env[ownVariable] = '1'
  return startProgram(program, { words }, { env, stdio: ['ignore', 'ignore', 'pipe'] })
}

/** Lets the service go first, where it has started this process; a command started by hand waits for it. */
export function giveWay(): void {
  if (process.env[ownVariable] === undefined) return
  try {
    lowerPriority(niceness)
  } catch {
    // The system has no priorities, or forbids them.
  }
}
