// Processes of our own: the same program again, over the same data. Commands that a service starts have a lower priority once
// they are loaded.

import type { ChildProcess } from 'node:child_process'
import { variableOf } from '../app/config/read-config.ts'
import type { Config, SettingName } from '../app/config/settings.ts'
import { lowerPriority } from '../base/low-priority.ts'
import { programFile, startProgram } from '../base/program-files.ts'

const program = programFile('cli/main.ts')

const passedOn = ['data', 'store', 'storeSchema'] as const satisfies readonly SettingName[]

/** Set for commands that a service has started. */
const ownVariable = 'TERRARIUM_OWN_COMMAND'
/** Steps of priority below that of the service. */
const niceness = 10

/**
 * The environment of a process of our own: settings are taken from `config` alone, those with these names. What this process
 * was told otherwise (by a file, say) is in them already.
 */
export function ownEnvironment(config: Config, names: readonly SettingName[]): NodeJS.ProcessEnv {
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('TERRARIUM_'))
  const passedOn = names.flatMap(name => {
    const value = config[name]
    return value === undefined ? [] : [[variableOf(name), String(value)]]
  })
  return Object.fromEntries([...others, ...passedOn])
}

/** Starts a command over the data of `config`; standard error can be read. */
export function startOwnCommand(config: Config, words: readonly string[]): ChildProcess {
  const env: NodeJS.ProcessEnv = { ...ownEnvironment(config, passedOn), [ownVariable]: '1' }
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
