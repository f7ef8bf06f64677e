#!/usr/bin/env node
// The program `terrarium`. All of it is loaded only once the runtime knows where to look for what it compiled before.

import module from 'node:module'
import { compileCache } from '../base/program-files.ts'

module.enableCompileCache(compileCache)
const { run } = await import('./program.ts')
process.exit(await run(process.argv.slice(2)))
