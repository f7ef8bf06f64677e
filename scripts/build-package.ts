// Compiles what the npm package ships into `dist`: JavaScript and declarations. Node does not strip types from installed
// packages, so they cannot ship the sources. Runs before `npm pack` and `npm publish`.

import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const repository = fileURLToPath(new URL('..', import.meta.url))

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
const compiler = fileURLToPath(new URL('../node_modules/.bin/tsc', import.meta.url))
const { status } = spawnSync(compiler, ['-p', 'tsconfig.build.json'], { cwd: repository, stdio: 'inherit' })
process.exitCode = status ?? 1
