// A test process exits and fails if a test file leaves a handle open, or if an error is not caught.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { test } from 'node:test'
import { patience } from './patience.ts'
import { repository, temporaryFolder } from './program.ts'

/** Runs a test file with the given source in another process, with these additional variables. */
async function run(
  source: string,
  variables: Readonly<Record<string, string>> = {},
): Promise<{ readonly status: number | null; readonly stderr: string }> {
  const folder = await temporaryFolder()
  try {
    const file = join(folder, 'example.test.ts')
    await writeFile(file, source)
    const words = [join(repository, 'tests/support/batch.ts'), relative(repository, file)]
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    return spawnSync(process.execPath, words, {
      cwd: repository,
      env: { ...env, ...variables },
      encoding: 'utf8',
      timeout: patience(30_000),
    })
  } finally {
    await rm(folder, { recursive: true })
  }
}

test('a process that does not exit after its last test fails, and names its open handles', async () => {
  const source = `
    import { createServer } from 'node:net'
    import { test } from 'node:test'
    test('leaves a server behind', () => new Promise(resolve => createServer().listen(0, resolve)))`
  const { status, stderr } = await run(source, { TEST_EXIT_TIMEOUT_MS: '100' })
  assert.equal(status, 1)
  assert.match(stderr, /process of \S+example\.test\.ts did not exit .* open handles: .*TCPServerWrap/)
})

test('a process that leaves nothing behind succeeds', async () => {
  const { status, stderr } = await run(`
    import { test } from 'node:test'
    test('passes', () => undefined)`)
  assert.deepEqual({ status, stderr }, { status: 0, stderr: '' })
})

for (const [kind, code] of [
  ['exception', "setImmediate(() => { throw new Error('stray') })"],
  ['rejection', "void Promise.reject(new Error('stray'))"],
] as const) {
  test(`a process with an uncaught ${kind} fails at once, and prints the error`, async () => {
    const { status, stderr } = await run(`
      import { test } from 'node:test'
      test('waits forever', () => new Promise(() => { setInterval(() => {}, 1000); ${code} }))`)
    assert.equal(status, 1)
    assert.match(stderr, /an uncaught error in the process of \S+example\.test\.ts: Error: stray/)
  })
}
