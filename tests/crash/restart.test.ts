// A restart preserves documents, schema, keys, tokens and the order of new ids.

import assert from 'node:assert/strict'
import { glob, rm, stat } from 'node:fs/promises'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { keyOfNewDatabase, query, rootQuery } from '../support/http.ts'
import { runProgram, temporaryFolder } from '../support/program.ts'
import { startProcess } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

const data = folderOfFile()

test('a restart preserves all data', async () => {
  const first = await startProcess({ data })
  const secret = await keyOfNewDatabase(first, 'restarted', 'server')
  await query(first, secret, { create_collection: { object: { name: 'users' } } })
  const index = {
    name: 'by_n',
    source: { collection: 'users' },
    terms: [{ object: { field: ['data', 'n'] } }],
  }
  await query(first, secret, { create_index: { object: index } })
  const params = { object: { data: { object: { n: 1 } }, credentials: { object: { password: 'secret' } } } }
  const user = (await query(first, secret, { create: { collection: 'users' }, params })) as {
    ref: unknown
    ts: number
  }
  const login = { login: user.ref, params: { object: { password: 'secret' } } }
  const token = (await query(first, secret, login)) as { secret: string }
  await first.stop()
  await assertSound(data)

  const second = await startProcess({ data })
  try {
    assert.deepEqual(await query(second, secret, { get: user.ref }), user)
    const set = { match: { index: 'by_n' }, terms: 1 }
    assert.deepEqual(await query(second, secret, { paginate: set }), { data: [user.ref] })
    assert.deepEqual(await query(second, token.secret, { current_identity: null }), user.ref)
    assert.equal(await rootQuery(second, { exists: { database: 'restarted' } }), true)
    const later = (await query(second, secret, { create: { collection: 'users' } })) as {
      ref: unknown
      ts: number
    }
    assert.ok(later.ts > user.ts)
    assert.notDeepEqual(later.ref, user.ref)
  } finally {
    await second.stop()
  }
  await assertSound(data)
})

test('a data directory in use is rejected and not changed', async () => {
  const first = await startProcess({ data })
  try {
    const words = ['serve', '--port', '0', '--data', data]
    const second = await runProgram(words, { TERRARIUM_ROOT_SECRET: first.rootSecret })
    assert.notEqual(second.status, 0)
    assert.match(second.stderr, /in use/)
    assert.equal(await rootQuery(first, { exists: { database: 'restarted' } }), true)
  } finally {
    await first.stop()
  }
})

test('a port in use is reported with its number', async () => {
  const first = await startProcess({ data })
  const other = await temporaryFolder()
  try {
    const { port } = new URL(first.url)
    const second = await runProgram(['serve', '--port', port, '--data', other], {
      TERRARIUM_ROOT_SECRET: 'another-root-secret',
    })
    assert.notEqual(second.status, 0)
    assert.match(second.stderr, new RegExp(`${port}.*in use|in use.*${port}`))
    assert.doesNotMatch(second.stderr, /\n\s+at /, 'no stack trace')
  } finally {
    await first.stop()
    await rm(other, { recursive: true, force: true })
  }
})

test('the first start generates a root secret that only the owner can read', async () => {
  const folder = await temporaryFolder()
  try {
    const server = await startProcess({ data: folder, env: { TERRARIUM_ROOT_SECRET: undefined } })
    await server.stop()
    const files = await Array.fromAsync(glob('**/*secret*', { cwd: folder }))
    assert.equal(files.length, 1)
    const { mode } = await stat(`${folder}/${files[0]}`)
    assert.equal(mode & 0o777, 0o600)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
