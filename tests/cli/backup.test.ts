// Backups during writes contain the state of one transaction, and can be restored.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { chmod, mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { test } from 'node:test'
import { progressLine } from '../../src/cli/progress.ts'
import { claimFolder } from '../../src/storage/lmdb/claim.ts'
import { openLmdb } from '../../src/storage/lmdb/lmdb.ts'
import { folderOfFile } from '../support/folder.ts'
import { rootQuery } from '../support/http.ts'
import { runProgram, temporaryFolder } from '../support/program.ts'
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
  let time = 0
  const server = await startProcess({ flags: ['--workers', '2', ...withoutSlowLane] })
  try {
    await rootQuery(server, { create_collection: { object: { name: 'things' } } })
    const data = { object: { data: { object: { text: 'x'.repeat(2000) } } } }
    const add = { create: { collection: 'things' }, params: data }
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

    const back = await runProgram(['restore', backup, '--data', restored])
    assert.equal(back.status, 0, back.stderr)
    time = timeOf(made.stdout)
    assert.equal(timeOf(back.stdout), time)
  } finally {
    isWriting = false
    await server.stop()
  }
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
  const { status, stderr } = await runProgram(['restore', join(folder, 'backup'), '--data', data])
  assert.equal(status, 0, stderr)
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
  const { status, stderr } = await runProgram(['restore', join(folder, 'backup'), '--data', data])
  assert.equal(status, 0, stderr)
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
  const names = {
    killed: 'monday.01234567.partial',
    running: 'monday.89abcdef.partial',
    foreign: 'x.01234567.partial',
  }
  for (const name of Object.values(names)) {
    await mkdir(join(parent, name), { recursive: true })
    await writeFile(join(parent, name, 'data.mdb'), 'a part')
  }
  await writeFile(join(parent, names.foreign, 'note'), 'mine')
  const release = claimFolder(join(parent, names.running))
  try {
    const made = await runProgram(['backup', join(parent, 'tuesday'), '--data', join(folder, 'restored')])
    assert.equal(made.status, 0, made.stderr)
    assert.deepEqual((await readdir(parent)).sort(), [names.running, 'tuesday', names.foreign])
    assert.deepEqual(await readdir(join(parent, 'tuesday')), ['data.mdb'])
  } finally {
    await release()
  }
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
  const disk = await temporaryFolder()
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'none', disk])
  if (mounted.status !== 0)
    return t.skip(`NOT TESTED: a small file system cannot be mounted: ${mounted.stderr}`)
  try {
    const data = join(disk, '..', `${basename(disk)}-data`)
    t.after(() => rm(data, { recursive: true, force: true }))
    const store = openLmdb({ path: data })
    const writes = Array.from({ length: 100 }, (_, n) => ({
      key: Buffer.from(`k${n}`),
      value: Buffer.alloc(3000),
    }))
    await store.transact(() => ({ result: undefined, writes }))
    await store.close()
    const { status, stderr } = await runProgram(['backup', join(disk, 'backup'), '--data', data])
    assert.equal(status, 1)
    assert.match(stderr, /^terrarium: [^\n]* cannot be written: the disk is full\n$/)
    assert.deepEqual(readdirSync(disk), [])
  } finally {
    spawnSync('umount', [disk])
    await rm(disk, { recursive: true, force: true })
  }
})
