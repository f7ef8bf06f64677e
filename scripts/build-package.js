// Builds what the npm package ships below `dist`: the program in few files, and the declarations for TypeScript. Node does
// not strip types from installed packages, so they cannot ship the sources. Runs before `npm pack` and `npm publish`.

import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { buildProgram } from './build-program.js'
import { repository } from './sources.js'

const program = join(repository, 'dist/program')
const types = join(repository, 'dist/types')

for (const folder of [program, types]) rmSync(folder, { recursive: true, force: true })
if (!(await buildProgram(program))) throw new Error('the tools are missing: npm ci')
const compiler = join(repository, 'node_modules/.bin/tsc')
const { status } = spawnSync(compiler, ['-p', 'tsconfig.build.json'], { cwd: repository, stdio: 'inherit' })
process.exitCode = status ?? 1
