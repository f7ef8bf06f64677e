// Starts commands of this program in child processes, on the data of this process.

import type { ChildProcess } from 'node:child_process'
import { variableOf } from '../app/config/read-config.ts'
import type { Config, SettingName } from '../app/config/settings.ts'
import { environmentWithoutSettings, programFile, startProgram } from '../base/program-files.ts'
import { lowerPriority } from '../base/system-process.ts'

const program = programFile('cli/main.ts')

const storeSettings = ['data', 'store', 'storeSchema'] as const satisfies readonly SettingName[]

/** Set by a service for commands that it starts. */
const ownVariable = 'TERRARIUM_OWN_COMMAND'
/** Steps by which such a command lowers its priority. */
const niceness = 10

/** Contains the settings in `names` with their values in `config`, and no other `TERRARIUM_…` variables. */
export function ownEnvironment(config: Config, names: readonly SettingName[]): NodeJS.ProcessEnv {
  const variables = names.flatMap(name => {
    const value = config[name]
    return value === undefined ? [] : [[variableOf(name), String(value)]]
  })
  return { ...environmentWithoutSettings(), ...Object.fromEntries(variables) }
}

/** Standard error of the command is a pipe. */
export function startOwnCommand(config: Config, words: readonly string[]): ChildProcess {
  const env: NodeJS.ProcessEnv = { ...ownEnvironment(config, storeSettings), [ownVariable]: '1' }
  return startProgram(program, { words }, { env, stdio: ['ignore', 'ignore', 'pipe'] })
}

/** Lowers the priority of a command that a service has started, because no user waits for it. */
export function lowerOwnPriority(): void {
  if (process.env[ownVariable] === undefined) return
  try {
    lowerPriority(niceness)
  } catch {
    // The system does not support priorities, or forbids them.
  }
}
