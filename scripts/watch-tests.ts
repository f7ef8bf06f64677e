// Runs tests again when a source changes: `npm test -- WORD --watch`. Node's own watch mode follows the imports of one
// program, but the test files run in processes of their own.

import { type ChildProcess, spawn } from 'node:child_process'
import { watch } from 'node:fs'
import { join } from 'node:path'

const folders = ['src', 'tests', 'scripts', 'client/src', 'dashboard/src']
/** An editor writes several files, or one file in several steps. */
const quietMs = 200

/** Runs `script` with `args` at once, and again after each change of a source below `root`. */
export function watchTests(root: string, script: string, args: readonly string[]): void {
  let child: ChildProcess | undefined
  let timer: NodeJS.Timeout | undefined
  const run = () => {
    console.log(`\n${new Date().toLocaleTimeString()} running the tests; Ctrl+C ends`)
    child = spawn(process.execPath, [script, ...args], { stdio: 'inherit' })
    child.once('close', () => {
      child = undefined
    })
  }
  const restart = () => {
    if (child === undefined) run()
    else {
      child.once('close', run)
      child.kill()
    }
  }
  for (const folder of folders) {
    watch(join(root, folder), { recursive: true }, (_, file) => {
      if (file === null || !/\.(?:ts|tsx|js|json|css)$/.test(file)) return
      clearTimeout(timer)
      timer = setTimeout(restart, quietMs)
    })
  }
  run()
}
