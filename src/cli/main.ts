#!/usr/bin/env node
// Runs the program `terrarium`. Enables the compile cache before it loads the other modules, so that they use the
// cache.

import module from 'node:module'
import { compileCache } from '../base/program-files.ts'

module.enableCompileCache(compileCache)
const { run } = await import('./program.ts')
const { watchOutput } = await import('./standard-output.ts')
const finishOutput = watchOutput()
process.exit(await finishOutput(await run(process.argv.slice(2))))
