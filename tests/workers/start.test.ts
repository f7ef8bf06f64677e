// A problem that prevents several workers from starting is reported once, in one line, as for one process.

import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { runProgram } from '../support/program.ts'
import { startProcess, withoutSlowLane } from '../support/server-process.ts'

const data = folderOfFile()
const env = { TERRARIUM_ROOT_SECRET: 'root-secret-of-the-tests' }

test('a port in use', async () => {
  await using other = createServer()
  await new Promise<void>(resolve => other.listen(0, '127.0.0.1', resolve))
  const port = String((other.address() as AddressInfo).port)
  const words = ['serve', '--port', port, '--data', data, '--workers', '3']
  const { status, stdout, stderr } = await runProgram(words, env)
  assert.equal(stderr, `terrarium: 127.0.0.1:${port} is already in use\n`)
  assert.equal(status, 1)
  assert.equal(stdout, '')
})

test('a data directory in use, in either order of one and several', async () => {
  for (const [first, second] of [
    ['1', '2'],
    ['2', '1'],
  ] as const) {
    await using server = await startProcess({ flags: ['--workers', first, ...withoutSlowLane] })
    const words = ['serve', '--port', '0', '--data', server.data, '--workers', second]
    const { status, stderr } = await runProgram(words, env)
    assert.equal(stderr, `terrarium: the data directory ${server.data} is in use by process ${server.pid}\n`)
    assert.equal(status, 1)
  }
})
