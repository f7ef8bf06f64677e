// Starts a command of this program in a child process, on the data of this process. When a service has started the
// command, the command lowers its own CPU priority.

import type { ChildProcess } from 'node:child_process'
import { variableOf } from '../app/config/read-config.ts'
import type { Config, SettingName } from '../app/config/settings.ts'
import { environmentWithoutSettings, programFile, startProgram } from '../base/program-files.ts'
import { lowerPriority } from '../base/system-process.ts'

const program = programFile('cli/main.ts')

const passedOn = ['data', 'store', 'storeSchema'] as const satisfies readonly SettingName[]

/** The environment variable that a service sets for commands that it starts. */
const ownVariable = 'TERRARIUM_OWN_COMMAND'
/** A command that a service starts lowers its priority by this number of steps. */
const niceness = 10

/**
 * The environment of a process that this program starts. The environment contains the settings in `names` with their
 * values in `config`. All other `TERRARIUM_…` variables are left out.
 */
export function ownEnvironment(config: Config, names: readonly SettingName[]): NodeJS.ProcessEnv {
  const passedOn = names.flatMap(name => {
    const value = config[name]
    return value === undefined ? [] : [[variableOf(name), String(value)]]
  })
  return { ...environmentWithoutSettings(), ...Object.fromEntries(passedOn) }
}

/** Starts a command on the data of `config`, with a pipe for the standard error of the command. */
export function startOwnCommand(config: Config, words: readonly string[]): ChildProcess {
  const env: NodeJS.ProcessEnv = { ...ownEnvironment(config, passedOn), [ownVariable]: '1' }
  return startProgram(program, { words }, { env, stdio: ['ignore', 'ignore', 'pipe'] })
}

/** Lowers the priority of this process if a service has started it, because no user waits for such a command. */
export function yieldToService(): void {
  if (process.env[ownVariable] === undefined) return
  try {
    lowerPriority(niceness)
  } catch {
    // The system does not support priorities, or forbids them.
  }
}
