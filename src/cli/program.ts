// What every command runs in.

import { setFlagsFromString } from 'node:v8'
import { stayAlive } from '../base/timers.ts'
import { dispatch } from './dispatch.ts'
import { commands } from './table.ts'

// After bulk work V8 expects objects of the same kind to live long and makes them in the old generation, where each keeps
// alive what it points to: queries then ran at little more than half their speed (case "compute" of the benchmark).
setFlagsFromString('--no-allocation-site-pretenuring')

/** Runs a command line; resolves with the exit status. */
export function run(words: readonly string[]): Promise<number> {
  // A command may wait for nothing but time, such as that until it tries again.
  stayAlive()
  return dispatch(commands, words)
}
