// The command-line program for tests, which runs with the Node of this process. `npm test` builds it from the current
// sources first, because a built program starts in half the time.

import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { programFile } from '../../scripts/sources.js'
import { patience } from './patience.ts'

export const repository = fileURLToPath(new URL('../..', import.meta.url))
/** Run with `process.execPath`. */
export const program = programFile()
/** The program for tests that replace or observe single source files. */
export const sourceProgram = join(repository, 'src/cli/main.ts')

/** Returns false if a program of the system is missing. `flag` makes the program print its version. */
export function isInstalled(name: string, flag: string): boolean {
  return spawnSync(name, [flag], { stdio: 'ignore' }).status === 0
}

/** New and empty, for a server's data. The caller removes it. */
export function temporaryFolder(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'terrarium-test-'))
}

export interface ProgramResult {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs `terrarium WORDS…` to its end; the status is -1 if it could not run or was killed by a signal. */
export function runProgram(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ProgramResult> {
  return new Promise(resolve => {
    const options = { env: { ...process.env, ...env }, timeout: patience(60_000) }
    execFile(process.execPath, [program, ...words], options, (error, stdout, stderr) => {
      const code = error?.code
      resolve({ status: error ? (typeof code === 'number' ? code : -1) : 0, stdout, stderr })
    })
  })
}

/** Runs `terrarium WORDS…`, which must succeed. Returns its standard output. */
export async function outputOf(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const { status, stderr, stdout } = await runProgram(words, env)
  assert.equal(status, 0, stdout + stderr)
  return stdout
}
