// Builds the content of the npm package into `dist`: the bundled program, and the declarations for TypeScript. The
// sources cannot be in the package, because Node does not strip types from installed packages. Runs before `npm pack`
// and `npm publish`.

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
