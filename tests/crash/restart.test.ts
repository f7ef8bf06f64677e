// A restart preserves documents, schema, keys, tokens and the order of new ids.

import assert from 'node:assert/strict'
import { glob, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { keyOfNewDatabase, query, rootQuery, runText } from '../support/http.ts'
import { runProgram } from '../support/program.ts'
import { startProcess } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

const folder = folderOfFile()
const data = join(folder, 'data')

interface Created {
  readonly ref: unknown
  readonly ts: number
}

test('a restart preserves all data', async () => {
  await using first = await startProcess({ data })
  const secret = await keyOfNewDatabase(first, 'restarted', 'server')
  await runText(first, secret, 'CreateCollection({ name: "users" })')
  const index = '{ name: "by_n", source: Collection("users"), terms: [{ field: ["data", "n"] }] }'
  await runText(first, secret, `CreateIndex(${index})`)
  const params = '{ data: { n: 1 }, credentials: { password: "secret" } }'
  const user = (await runText(first, secret, `Create(Collection("users"), ${params})`)) as Created
  const login = { login: user.ref, params: { object: { password: 'secret' } } }
  const token = (await query(first, secret, login)) as { secret: string }
  await first.stop()
  await assertSound(data)

  await using second = await startProcess({ data })
  assert.deepEqual(await query(second, secret, { get: user.ref }), user)
  const set = { match: { index: 'by_n' }, terms: 1 }
  assert.deepEqual(await query(second, secret, { paginate: set }), { data: [user.ref] })
  assert.deepEqual(await query(second, token.secret, { current_identity: null }), user.ref)
  assert.equal(await rootQuery(second, { exists: { database: 'restarted' } }), true)
  const later = (await runText(second, secret, 'Create(Collection("users"))')) as Created
  assert.ok(later.ts > user.ts)
  assert.notDeepEqual(later.ref, user.ref)
  await second.stop()
  await assertSound(data)
})

test('a data directory in use is rejected and not changed', async () => {
  await using first = await startProcess({ data })
  const words = ['serve', '--port', '0', '--data', data]
  const second = await runProgram(words, { TERRARIUM_ROOT_SECRET: first.rootSecret })
  assert.notEqual(second.status, 0)
  assert.match(second.stderr, /in use/)
  assert.equal(await rootQuery(first, { exists: { database: 'restarted' } }), true)
})

test('a port in use is reported with its number', async () => {
  await using first = await startProcess({ data })
  const { port } = new URL(first.url)
  const second = await runProgram(['serve', '--port', port, '--data', join(folder, 'other')], {
    TERRARIUM_ROOT_SECRET: 'another-root-secret',
  })
  assert.notEqual(second.status, 0)
  assert.match(second.stderr, new RegExp(`${port}.*in use|in use.*${port}`))
  assert.doesNotMatch(second.stderr, /\n\s+at /, 'no stack trace')
})

test('the first start generates a root secret that only the owner can read', async () => {
  const own = join(folder, 'own')
  await using _ = await startProcess({ data: own, env: { TERRARIUM_ROOT_SECRET: undefined } })
  const files = await Array.fromAsync(glob('**/*secret*', { cwd: own }))
  assert.equal(files.length, 1)
  const { mode } = await stat(`${own}/${files[0]}`)
  assert.equal(mode & 0o777, 0o600)
})
