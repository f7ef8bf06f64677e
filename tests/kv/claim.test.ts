// At most one service has a data directory, also when another one has the same process number, as in containers.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { StoreUnavailableError } from '../../src/storage/kv/errors.ts'
import { claimFolder } from '../../src/storage/kv/lmdb-claim.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrarium-claim-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const claimModule = new URL('../../src/storage/kv/lmdb-claim.ts', import.meta.url).href

/** Claims the folder in a process of its own, which then does `next`; returns what it said. */
function claimElsewhere(next: string): string {
  const code = `
    import { claimFolder } from ${JSON.stringify(claimModule)}
    try { claimFolder(${JSON.stringify(folder)}); console.log('claimed') } catch (error) { console.log(error.message) }
    ${next}`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
  return stdout.trim()
}

test('a folder is claimed once, whatever the number of the process', async () => {
  const release = claimFolder(folder)
  const refused = (error: unknown) => {
    assert.ok(error instanceof StoreUnavailableError)
    assert.ok(error.message.startsWith(`the data directory ${folder} is in use by process ${process.pid} `))
    return true
  }
  // Refusing one that has the same number leaves the claim as it is.
  for (let time = 0; time < 2; time++) assert.throws(() => claimFolder(folder), refused)
  const inUse = `the data directory ${folder} is in use by process ${process.pid}`
  for (let time = 0; time < 2; time++) assert.equal(claimElsewhere(''), inUse)
  await release()
  assert.equal(claimElsewhere(''), 'claimed')
})

test('a claim ends with its process, however it ends', async () => {
  assert.equal(claimElsewhere(`process.kill(process.pid, 'SIGKILL')`), 'claimed')
  const release = claimFolder(folder)
  await release()
})
