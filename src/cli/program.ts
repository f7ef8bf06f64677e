// Runs a command line after setting a V8 flag that the service needs.

import { setFlagsFromString } from 'node:v8'
import { stayAlive } from '../base/timers.ts'
import { dispatch } from './dispatch.ts'
import { commands } from './table.ts'

// After bulk work, V8 allocates short-lived objects in the old generation, which the garbage collector rarely cleans.
// This flag makes queries almost twice as fast (case "compute" of the benchmark).
setFlagsFromString('--no-allocation-site-pretenuring')

/** Resolves with the exit status. */
export function run(words: readonly string[]): Promise<number> {
  // A command may wait for nothing except a timer, such as the delay before a retry. The process must not exit
  // meanwhile.
  stayAlive()
  return dispatch(commands, words)
}
