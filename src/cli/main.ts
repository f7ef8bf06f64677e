#!/usr/bin/env node
// The program `terrarium`.

import { setFlagsFromString } from 'node:v8'
import { clientCommands } from './client-commands.ts'
import { dispatch } from './dispatch.ts'

// After bulk work V8 expects objects of the same kind to live long and makes them in the old generation, where each keeps
// alive what it points to: queries then ran at little more than half their speed (case "compute" of the benchmark).
setFlagsFromString('--no-allocation-site-pretenuring')

const words = process.argv.slice(2)
const isClient = clientCommands.some(({ name }) => name.split(' ')[0] === words[0])
const commands = isClient ? clientCommands : (await import('./table.ts')).commands
process.exit(await dispatch(commands, words))
