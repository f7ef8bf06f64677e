// Runs command lines in a process that is set up for the service.

import { setFlagsFromString } from 'node:v8'
import { stayAlive } from '../base/timers.ts'
import { dispatch } from './dispatch.ts'
import { commands } from './table.ts'

// After bulk work, V8 allocates short-lived objects in the old generation. The garbage collector rarely cleans this
// generation. Without this flag, queries ran at little more than half their speed (case "compute" of the benchmark).
setFlagsFromString('--no-allocation-site-pretenuring')

/** Runs a command line; resolves with the exit status. */
export function run(words: readonly string[]): Promise<number> {
  // A command may wait only for a timer, such as the delay before a retry. The process must not exit meanwhile.
  stayAlive()
  return dispatch(commands, words)
}
