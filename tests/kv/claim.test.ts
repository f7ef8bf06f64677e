// At most one service can claim a data directory, also when two services have the same process number, as in
// containers.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { open } from 'lmdb'
import { StoreUnavailableError } from '../../src/storage/kv/store-errors.ts'
import { claimFolder } from '../../src/storage/lmdb/claim.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'terrarium-claim-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const claimModule = new URL('../../src/storage/lmdb/claim.ts', import.meta.url).href

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
  const rejected = (error: unknown) => {
    assert.ok(error instanceof StoreUnavailableError)
    assert.ok(error.message.startsWith(`the data directory ${folder} is in use by process ${process.pid} `))
    return true
  }
  // Rejecting a process with the same number does not change the claim.
  for (let time = 0; time < 2; time++) assert.throws(() => claimFolder(folder), rejected)
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

describe('the file of a claim after a power failure', () => {
  const states: readonly (readonly [string, (content: Buffer) => Buffer])[] = [
    ['is empty', () => Buffer.alloc(0)],
    ['contains only zeros', content => Buffer.alloc(content.length)],
    ['has a first page of zeros', content => Buffer.from(content).fill(0, 0, 4096)],
    ['has a second page of zeros', content => Buffer.from(content).fill(0, 4096)],
    ['has only its first page', content => content.subarray(0, 4096)],
    ['has a page of zeros', () => Buffer.alloc(4096)],
    ['contains other data', content => Buffer.alloc(content.length, 'x')],
  ]
  for (const [state, damage] of states)
    test(`is repaired in place if it ${state}`, async () => {
      const file = join(folder, 'service')
      await claimFolder(folder)()
      const sound = readFileSync(file)
      writeFileSync(file, damage(sound))
      const { ino } = statSync(file)
      assert.equal(claimElsewhere(''), 'claimed')
      assert.deepEqual(readFileSync(file), sound)
      assert.equal(statSync(file).ino, ino)
      const release = claimFolder(folder)
      assert.equal(claimElsewhere(''), `the data directory ${folder} is in use by process ${process.pid}`)
      await release()
    })

  test('has the content that LMDB itself writes', async () => {
    await claimFolder(folder)()
    const own = join(folder, 'own')
    await open({ path: own, noSubdir: true, mapSize: 1 << 20, pageSize: 4096 }).close()
    assert.deepEqual(readFileSync(join(folder, 'service')), readFileSync(own))
  })
})
