// Commands that a service starts lower their priority; commands that a user starts do not.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { getPriority } from 'node:os'
import { test } from 'node:test'

const module = JSON.stringify(new URL('../../src/cli/own-commands.ts', import.meta.url).href)
const script = `import { getPriority } from 'node:os'
  import { lowerOwnPriority } from ${module}
  const before = getPriority()
  lowerOwnPriority()
  console.log(JSON.stringify([before, getPriority()]))`

function priorities(env: NodeJS.ProcessEnv): unknown {
  const words = ['--input-type=module', '-e', script]
  return JSON.parse(
    execFileSync(process.execPath, words, { env: { ...process.env, ...env }, encoding: 'utf8' }),
  )
}

test('a command of the service lowers its priority after loading, another command does not', () => {
  const usual = getPriority()
  assert.deepEqual(priorities({}), [usual, usual])
  const [before, after] = priorities({ TERRARIUM_OWN_COMMAND: '1' }) as [number, number]
  assert.equal(before, usual)
  // A run of the tests may itself have a low priority.
  assert.equal(after, Math.max(usual, 10))
})
