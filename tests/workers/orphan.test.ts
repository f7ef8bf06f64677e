// Workers exit silently when their supervisor is killed.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const worker = fileURLToPath(new URL('orphan.ts', import.meta.url))
const supervisor = `import cluster from 'node:cluster'
  cluster.setupPrimary({ exec: ${JSON.stringify(worker)}, execArgv: [] })
  cluster.fork()`

test('a worker that sends a message to a killed supervisor exits like the others', async () => {
  const child = spawn(process.execPath, ['--input-type=module', '-e', supervisor], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text
  })
  const closed = once(child, 'close')
  await once(child.stdout, 'data')
  child.stdout.resume()
  child.kill('SIGKILL')
  // The worker has the same streams, so they close only after it has exited, too.
  await closed
  assert.equal(stderr, '')
})
