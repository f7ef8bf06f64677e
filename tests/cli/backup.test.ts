// Backups during writes contain the state of one transaction, and can be restored.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { progressLine } from '../../src/cli/progress.ts'
import { claimFolder } from '../../src/storage/lmdb/claim.ts'
import { openLmdb } from '../../src/storage/lmdb/lmdb.ts'
import { folderOfFile } from '../support/folder.ts'
import { rootQuery } from '../support/http.ts'
import { outputOf, runProgram } from '../support/program.ts'
import { startProcess, withoutSlowLane } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

const folder = folderOfFile()

interface Document {
  readonly ref: unknown
  readonly ts: number
}

const documents = { paginate: { documents: { collection: 'things' } }, size: 100_000 }
const timeOf = (output: string) => Number(/transaction time (\d+)/.exec(output)?.[1])

test('a backup during writes contains the state of one transaction', async () => {
  const backup = join(folder, 'backup')
  const restored = join(folder, 'restored')
  const commits: Document[] = []
  let isWriting = true
  await using server = await startProcess({ flags: ['--workers', '2', ...withoutSlowLane] })
  await rootQuery(server, { create_collection: { object: { name: 'things' } } })
  const params = { object: { data: { object: { text: 'x'.repeat(2000) } } } }
  const add = { create: { collection: 'things' }, params }
  const writers = Array.from({ length: 4 }, async () => {
    while (isWriting) commits.push((await rootQuery(server, add)) as Document)
  })
  const made = await runProgram(['backup', backup, '--data', server.data])
  isWriting = false
  await Promise.all(writers)
  assert.equal(made.status, 0, made.stderr)
  assert.equal(made.stderr, '', 'no progress bar without a terminal')
  assert.deepEqual(await readdir(backup), ['data.mdb'])
  assert.equal((await stat(join(backup, 'data.mdb'))).mode & 0o777, 0o600)

  const time = timeOf(made.stdout)
  assert.equal(timeOf(await outputOf(['restore', backup, '--data', restored])), time)
  await server.stop()
  await assertSound(restored)
  await using second = await startProcess({ data: restored, flags: withoutSlowLane })
  const { data } = (await rootQuery(second, documents)) as { data: unknown[] }
  const expected = commits.filter(({ ts }) => ts <= time).map(({ ref }) => JSON.stringify(ref))
  assert.deepEqual(data.map(ref => JSON.stringify(ref)).sort(), expected.sort())
  assert.ok(((await rootQuery(second, { create: { collection: 'things' } })) as Document).ts > time)
})

test('a restore into a folder with content is rejected', async () => {
  const full = join(folder, 'full')
  await mkdir(full)
  await writeFile(join(full, 'note'), 'mine')
  const rejected = await runProgram(['restore', join(folder, 'backup'), '--data', full])
  assert.equal(rejected.status, 1)
  assert.equal(rejected.stderr, `terrarium: the data directory ${full} is not empty\n`)
  assert.deepEqual(await readdir(full), ['note'])
})

test('a failed restore can be repeated, and only the owner can read its files', async () => {
  const broken = join(folder, 'broken')
  const data = join(folder, 'again')
  await mkdir(join(broken, 'data.mdb'), { recursive: true })
  const failed = await runProgram(['restore', broken, '--data', data])
  assert.equal(failed.status, 1)
  assert.match(failed.stderr, /cannot be restored/)
  await chmod(join(folder, 'backup', 'data.mdb'), 0o644)
  await outputOf(['restore', join(folder, 'backup'), '--data', data])
  for (const file of await readdir(data)) {
    assert.equal((await stat(join(data, file))).mode & 0o777, 0o600, file)
  }
})

test('a killed restore is not served, and can be repeated', async () => {
  const data = join(folder, 'killed')
  const draft = join(data, 'restored.partial')
  await mkdir(draft, { recursive: true })
  await writeFile(join(draft, 'data.mdb'), Buffer.alloc(100_000, 1))
  const served = await runProgram(['serve', '--data', data, '--port', '0'])
  assert.equal(served.status, 1)
  const advice = `restore again, or remove ${draft} to start with an empty database`
  assert.equal(served.stderr, `terrarium: a restore into ${data} was interrupted: ${advice}\n`)
  await outputOf(['restore', join(folder, 'backup'), '--data', data])
  assert.equal(existsSync(draft), false)
  await using server = await startProcess({ data, flags: withoutSlowLane })
  const { data: found } = (await rootQuery(server, documents)) as { data: unknown[] }
  assert.ok(found.length > 0)
})

test('a backup never overwrites files, and needs data', async () => {
  const over = await runProgram(['backup', join(folder, 'backup'), '--data', join(folder, 'restored')])
  assert.equal(over.status, 1)
  assert.match(over.stderr, /backup is not empty\n$/)
  const none = join(folder, 'none')
  const empty = await runProgram(['backup', join(folder, 'other'), '--data', none])
  assert.equal(empty.status, 1)
  assert.equal(empty.stderr, `terrarium: there is no data in ${none}\n`)
  assert.equal(existsSync(join(folder, 'other')), false)
  assert.equal(existsSync(none), false)
  const lost = await runProgram(['restore', none, '--data', join(folder, 'third')])
  assert.equal(lost.stderr, `terrarium: there is no backup in ${none}\n`)
})

test('a backup removes the incomplete backups of killed processes', async () => {
  const parent = join(folder, 'leftovers')
  const [killed, running, foreign] = [
    'monday.01234567.partial',
    'monday.89abcdef.partial',
    'x.01234567.partial',
  ]
  for (const name of [killed, running, foreign]) {
    await mkdir(join(parent, name), { recursive: true })
    await writeFile(join(parent, name, 'data.mdb'), 'a part')
  }
  await writeFile(join(parent, foreign, 'note'), 'mine')
  const release = claimFolder(join(parent, running))
  await outputOf(['backup', join(parent, 'tuesday'), '--data', join(folder, 'restored')])
  await release()
  assert.deepEqual((await readdir(parent)).sort(), [running, 'tuesday', foreign])
  assert.deepEqual(await readdir(join(parent, 'tuesday')), ['data.mdb'])
})

test('the folder argument is required', async () => {
  const { status, stderr } = await runProgram(['backup', '--data', folder])
  assert.equal(status, 2)
  assert.match(stderr, /backup needs FOLDER/)
})

test('the progress bar is clamped to 0 and 100 %', () => {
  assert.equal(progressLine('backup', 0.2), `backup [${'#'.repeat(6)}${' '.repeat(24)}]  20 %`)
  assert.equal(progressLine('backup', 7), `backup [${'#'.repeat(30)}] 100 %`)
  assert.equal(progressLine('backup', -1), `backup [${' '.repeat(30)}]   0 %`)
})

test('a backup to a full disk fails with one line and leaves no files', async t => {
  const disk = join(folder, 'disk')
  await mkdir(disk)
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', disk])
  if (mounted.status !== 0)
    return t.skip(`NOT TESTED: a small file system cannot be mounted: ${mounted.stderr}`)
  try {
    const data = join(folder, 'stored')
    const store = openLmdb({ path: data })
    const value = Buffer.alloc(3000)
    const writes = Array.from({ length: 100 }, (_, n) => ({ key: Buffer.from(`k${n}`), value }))
    await store.transact(() => ({ result: undefined, writes }))
    await store.close()
    const { status, stderr } = await runProgram(['backup', join(disk, 'backup'), '--data', data])
    assert.equal(status, 1)
    assert.match(stderr, /^terrarium: [^\n]* cannot be written: the disk is full\n$/)
    assert.deepEqual(readdirSync(disk), [])
  } finally {
    spawnSync('umount', [disk])
  }
})
