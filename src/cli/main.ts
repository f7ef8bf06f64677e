#!/usr/bin/env node
// The program `terrarium`.

import { setFlagsFromString } from 'node:v8'
import { stayAlive } from '../base/timers.ts'
import { dispatch } from './dispatch.ts'
import { commands } from './table.ts'

// After bulk work V8 expects objects of the same kind to live long and makes them in the old generation, where each keeps
// alive what it points to: queries then ran at little more than half their speed (case "compute" of the benchmark).
setFlagsFromString('--no-allocation-site-pretenuring')

// A command may wait for nothing but time, such as that until it tries again.
stayAlive()
process.exit(await dispatch(commands, process.argv.slice(2)))
