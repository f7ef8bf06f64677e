// Standard output of the program: output that is longer than a pipe takes, readers that close the pipe, a full disk.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, existsSync, openSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { program } from '../support/program.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()

/** The output has 4 MB. A pipe takes 64 KiB at once, and a socket 200 KiB. */
const elements = 16_000
const query = `Set.sequence(0, ${elements}).toArray().map(n => { n: n, text: "${'x'.repeat(250)}" })`

/** Starts a command that prints the result of the query. `output`: a file descriptor, or `pipe`. */
function start(output: 'pipe' | number): ChildProcess {
  const env = { ...process.env, TERRARIUM_URL: server.url, TERRARIUM_SECRET: server.rootSecret }
  const words = [program, 'eval', '--fql', '10', '--json', query]
  return spawn(process.execPath, words, { env, stdio: ['ignore', output, 'pipe'] })
}

async function ended(child: ChildProcess): Promise<{ readonly status: number; readonly stderr: string }> {
  const [stderr, [status]] = await Promise.all([text(child.stderr as Readable), once(child, 'close')])
  return { status, stderr }
}

test('the reader of a pipe gets the whole output', async () => {
  const child = start('pipe')
  const [stdout, end] = await Promise.all([text(child.stdout as Readable), ended(child)])
  assert.deepEqual(end, { status: 0, stderr: '' })
  assert.equal(JSON.parse(stdout).length, elements)
})

test('a reader may close the pipe before the end', async () => {
  const child = start('pipe')
  child.stdout?.once('data', () => child.stdout?.destroy())
  assert.deepEqual(await ended(child), { status: 0, stderr: '' })
})

test('the command fails if its output cannot be written', { skip: !existsSync('/dev/full') }, async () => {
  const full = openSync('/dev/full', 'w')
  const { status, stderr } = await ended(start(full))
  closeSync(full)
  assert.equal(status, 1)
  assert.match(stderr, /^terrarium: cannot write standard output: ENOSPC/)
})
