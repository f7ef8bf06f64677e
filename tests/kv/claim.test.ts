// At most one service can claim a data directory, also when two services have the same process number, as in
// containers.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { claimFolder } from '../../src/storage/kv/lmdb-claim.ts'
import { StoreUnavailableError } from '../../src/storage/kv/store-errors.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrarium-claim-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const claimModule = new URL('../../src/storage/kv/lmdb-claim.ts', import.meta.url).href

/** Claims the folder in a separate process, which then does `next`; returns its output. */
function claimElsewhere(next: string): string {
  const code = `
    import { claimFolder } from ${JSON.stringify(claimModule)}
    try { claimFolder(${JSON.stringify(folder)}); console.log('claimed') } catch (error) { console.log(error.message) }
    ${next}`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', code], { encoding: 'utf8' })
  return stdout.trim()
}

test('a folder is claimed once, whatever the process number', async () => {
  const release = claimFolder(folder)
  const refused = (error: unknown) => {
    assert.ok(error instanceof StoreUnavailableError)
    assert.ok(error.message.startsWith(`the data directory ${folder} is in use by process ${process.pid} `))
    return true
  }
  // Rejecting a process with the same number does not change the claim.
  for (let time = 0; time < 2; time++) assert.throws(() => claimFolder(folder), refused)
  const inUse = `the data directory ${folder} is in use by process ${process.pid}`
  for (let time = 0; time < 2; time++) assert.equal(claimElsewhere(''), inUse)
  await release()
  assert.equal(claimElsewhere(''), 'claimed')
})

test('a claim ends when its process exits or is killed', async () => {
  assert.equal(claimElsewhere(`process.kill(process.pid, 'SIGKILL')`), 'claimed')
  const release = claimFolder(folder)
  await release()
})
