// Runs commands of the command line within the test's own process, for tests whose subject is the command and not its
// process: a process costs half a second of CPU time, a command some milliseconds. The command gets its own standard
// streams and environment. Commands that claim a data directory need `runProgram` (program.ts), because claims belong
// to a process.

import assert from 'node:assert/strict'
import { Readable, Writable } from 'node:stream'
import { dispatch } from '../../src/cli/dispatch.ts'
import { commands } from '../../src/cli/table.ts'
import type { ProgramResult } from './program.ts'
import type { RunningServer } from './server.ts'

let isRunning = false

/**
 * Runs `terrarium WORDS…`; `input` is its standard input, which is a terminal if
 * `isTerminal` is true. Rejects where the program would exit with an uncaught error.
 * Only one command runs at a time, because the streams and the environment belong to the process.
 */
export async function runCommand(
  words: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
  isTerminal = false,
): Promise<ProgramResult> {
  assert.ok(!isRunning, 'another command is running')
  isRunning = true
  const stdout = new TextCollector()
  const stderr = new TextCollector()
  const stdin = Object.assign(Readable.from(input === '' ? [] : [Buffer.from(input)]), { isTTY: isTerminal })
  const restore = replaceInProcess({ stdin, stdout, stderr, env: { ...process.env, ...env } })
  try {
    const status = await dispatch(commands, words)
    return { status, stdout: stdout.text, stderr: stderr.text }
  } finally {
    restore()
    isRunning = false
  }
}

/** Commands on a service, with its root secret. */
export function commandsOn(server: Pick<RunningServer, 'url' | 'rootSecret'>) {
  const run = (...words: string[]) =>
    runCommand(words, { TERRARIUM_URL: server.url, TERRARIUM_SECRET: server.rootSecret })

  /** Runs a command that must succeed. Returns its standard output. */
  async function outputOf(...words: string[]): Promise<string> {
    const { status, stderr, stdout } = await run(...words)
    assert.equal(status, 0, stderr)
    return stdout
  }

  return { run, outputOf }
}

class TextCollector extends Writable {
  text = ''

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

/** Replaces properties of `process`; returns a function that restores them. Holders of the old streams are unaffected. */
function replaceInProcess(values: Readonly<Record<string, unknown>>): () => void {
  const before = Object.keys(values).map(
    name => [name, Object.getOwnPropertyDescriptor(process, name) as PropertyDescriptor] as const,
  )
  for (const [name, value] of Object.entries(values))
    Object.defineProperty(process, name, { configurable: true, enumerable: true, writable: true, value })
  return () => {
    for (const [name, property] of before) Object.defineProperty(process, name, property)
  }
}
