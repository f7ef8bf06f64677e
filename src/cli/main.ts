#!/usr/bin/env node
// The program `terrarium`. The other modules are loaded after the compile cache has been enabled, so that they use the
// cache.

import module from 'node:module'
import { compileCache } from '../base/program-files.ts'

module.enableCompileCache(compileCache)
const { run } = await import('./program.ts')
process.exit(await run(process.argv.slice(2)))
