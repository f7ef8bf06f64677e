// Imports into a running service, through the command line, and into a data directory, and the required rights.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import faunadb from 'faunadb'
import { runCommand } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { keyOfNewDatabase, query, send } from '../support/http.ts'
import { runProgram } from '../support/program.ts'
import { serverOfFile } from '../support/server.ts'
import { assertSound } from '../support/sound.ts'
import { document, fixtures } from './importing.ts'

const { query: q } = faunadb

const server = serverOfFile()
const folder = folderOfFile()

const tagged = join(fixtures, 'tagged')

function importInto(words: readonly string[], secret = server.rootSecret) {
  return runCommand(['import', '--url', server.url, '--state', join(folder, 'state'), ...words], {
    TERRARIUM_SECRET: secret,
  })
}

test('an export is imported into a running service, and its users log in with their old passwords', async () => {
  const report = join(folder, 'report.json')
  const { status, stderr, stdout } = await importInto(['--database', 'team/shop', '--report', report, tagged])
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^Product +2 +2 +0 +0$/m)
  const secret = `${server.rootSecret}:team/shop:admin`
  const params = { object: { password: 's3cret-of-ada' } }
  const token = (await query(server, secret, { login: document('User', '11'), params })) as { secret: string }
  assert.ok(token.secret)
})

test('--json prints the report', async () => {
  const { status, stderr, stdout } = await importInto(['--database', 'team/shop', '--json', tagged])
  assert.equal(status, 0, stderr)
  const { collections, dryRun, total } = JSON.parse(stdout)
  assert.deepEqual([dryRun, total.written, collections.Product.equal], [false, 0, 2])
})

test('users exported from a service log in elsewhere, through the driver', async () => {
  const exported = join(folder, 'exported')
  const from = ['export', '--url', server.url, '--database', 'team/shop', '--gzip', exported]
  const first = await runCommand(from, { TERRARIUM_SECRET: server.rootSecret })
  assert.equal(first.status, 0, first.stderr)
  assert.match(first.stdout, /^exported 5 documents of 1 database as of /)
  const second = await importInto(['--database', 'elsewhere', exported])
  assert.equal(second.status, 0, second.stderr)
  const { hostname, port } = new URL(server.url)
  const clientOf = (secret: string) =>
    new faunadb.Client({ domain: hostname, port: Number(port), scheme: 'http', secret })
  const admin = clientOf(`${server.rootSecret}:elsewhere:admin`)
  const ada = q.Ref(q.Collection('User'), '11')
  const session = await admin.query<{ secret: string }>(q.Login(ada, { password: 's3cret-of-ada' }))
  const own = clientOf(session.secret)
  assert.equal((await own.query<faunadb.values.Ref>(q.CurrentIdentity())).id, '11')
  const page = await admin.query<{ data: faunadb.values.Ref[] }>(
    q.Paginate(q.Documents(q.Collection('Product')), { size: 1 }),
  )
  const ids = page.data.map(({ id }) => id)
  assert.deepEqual(ids, ['101'])
  await assert.rejects(admin.query(q.Login(ada, { password: 'wrong' })))
  await admin.close()
  await own.close()
})

test('an admin key imports into its own database', async () => {
  const secret = await keyOfNewDatabase(server, 'own', 'admin')
  const { status, stderr } = await importInto([join(fixtures, 'dumps/array.json')], secret)
  assert.equal(status, 0, stderr)
  assert.equal(await query(server, secret, { count: { documents: { collection: 'things' } } }), 2)
})

test('other keys cannot import or export', async () => {
  const secret = await keyOfNewDatabase(server, 'guarded', 'server')
  for (const path of ['write', 'missing', 'snapshot', 'page']) {
    const request = { method: 'POST', path: `/api/v1/transfer/${path}`, body: '{}' }
    assert.equal((await send(server, request)).status, 401)
    assert.equal((await send(server, { ...request, secret })).status, 403)
    const nonsense = await send(server, { ...request, secret: server.rootSecret, body: 'nonsense' })
    assert.equal(nonsense.status, path === 'snapshot' ? 200 : 400)
  }
})

test('an import into a data directory works whether or not it is being served', async () => {
  const data = join(folder, 'data')
  const words = ['import', '--state', join(folder, 'state'), '--database', 'own/shop', tagged]
  const { status, stderr } = await runProgram([...words, '--data', data])
  assert.equal(status, 0, stderr)
  await assertSound(data)
  const unknown = await runProgram([...words, '--data', server.data])
  assert.deepEqual([unknown.status, /is served: give --url and --secret/.test(unknown.stderr)], [1, true])
  const served = await runProgram([...words, '--data', server.data], { TERRARIUM_SECRET: server.rootSecret })
  assert.equal(served.status, 0, served.stderr)
  const secret = `${server.rootSecret}:own/shop:admin`
  assert.equal(await query(server, secret, { count: { documents: { collection: 'Product' } } }), 2)
})

test('an empty export is valid', async () => {
  await query(server, server.rootSecret, { create_database: { object: { name: 'empty' } } })
  const env = { TERRARIUM_SECRET: server.rootSecret }
  const exported = join(folder, 'nothing-in-it')
  const words = ['export', '--url', server.url, '--database', 'empty', exported]
  assert.equal((await runCommand(words, env)).status, 0)
  const { status, stderr } = await importInto(['--database', 'empty-too', exported])
  assert.equal(status, 0, stderr)
  const count = await query(server, `${server.rootSecret}:empty-too:admin`, { count: { collections: null } })
  assert.equal(count, 0)
})

test('errors are reported in one line', async () => {
  const missing = await importInto(['--database', 'shop', join(folder, 'nothing')])
  assert.deepEqual(
    [missing.status, missing.stderr],
    [1, `terrarium: ${join(folder, 'nothing')} does not exist\n`],
  )
  const wrong = await importInto(['--database', 'shop', tagged], 'wrong')
  assert.equal(wrong.status, 1)
  assert.match(wrong.stderr, /unauthorized/i)
  const typo = await runCommand(['export', '--url', server.url, '--database', 'typo', join(folder, 'typo')], {
    TERRARIUM_SECRET: server.rootSecret,
  })
  assert.match(
    typo.stderr,
    /^terrarium: \S+ has no database typo, or the secret is not one of an admin \(401\)\n$/,
  )
  const made = await importInto(['--database', 'new/typo', join(fixtures, 'dumps/array.json')])
  assert.match(made.stdout, /Schema objects created:\n {2}database new\/typo\n/)
  const text = join(folder, 'letter.txt')
  await writeFile(text, 'Dear all\n')
  const letter = await importInto(['--database', 'shop', text])
  assert.equal(letter.status, 1)
  assert.match(letter.stderr, /nothing to import.*\n.*letter\.txt \(of no known format\)/)
  const type = await importInto(['--database', 'shop', '--type', 'a::b', tagged])
  assert.match(type.stderr, /FIELD::TYPE/)
})
