// `terrarium database`, `key`, `profile` and lists with `--json`, against a running server.

import assert from 'node:assert/strict'
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { commandsOn, runCommand } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { outputOf } from '../support/program.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
const folder = folderOfFile()

const { outputOf: done, run } = commandsOn(server)

test('databases are created, listed and deleted, even inside others', async () => {
  assert.equal(await done('database', 'list'), '')
  assert.equal(await done('database', 'create', 'shop'), 'created shop\n')
  assert.equal(await done('database', 'create', 'test', '--database', 'shop'), 'created test\n')
  assert.match(await done('database', 'list'), /^NAME {2}GLOBAL ID\nshop {2}\w+\n$/)
  const [listed] = JSON.parse(await done('database', 'list', '--json', '--database', 'shop'))
  assert.equal(listed.name, 'test')
  const twice = await run('database', 'create', 'shop')
  assert.equal(twice.status, 1)
  assert.match(twice.stderr, /already exists|not unique/)
  const asked = await run('database', 'delete', 'shop')
  assert.deepEqual([asked.status, asked.stdout], [1, ''], 'there is no terminal for a confirmation')
  assert.equal(await done('database', 'delete', 'test', '--database', 'shop', '--yes'), 'deleted test\n')
  assert.equal(await done('database', 'list', '--database', 'shop'), '')
  assert.match((await run('database', 'delete', 'none', '--yes')).stderr, /there is no database none/)
  assert.match((await run('database')).stderr, /database needs one of create, list, delete/)
})

test('a declined deletion keeps the database and has the exit status 1', async () => {
  await done('database', 'create', 'kept')
  const env = { TERRARIUM_URL: server.url, TERRARIUM_SECRET: server.rootSecret }
  const { status, stdout } = await runCommand(['database', 'delete', 'kept'], env, 'n\n', true)
  assert.equal(status, 1)
  assert.match(stdout, /^Delete the database kept .*\? \[y\/N\] $/)
  assert.match(await done('database', 'list'), /^kept /m)
})

test('keys are created, listed and deleted; only the secret goes to standard output', async () => {
  await done('database', 'create', 'app')
  const within = ['--database', 'app']
  const made = await run('key', 'create', '--role', 'server', '--name', 'the backend', ...within)
  const secret = made.stdout.trim()
  assert.match(secret, /^fn\w+/)
  assert.match(made.stderr, /^\d+ {2}server\nThe secret is shown only now:\n$/)
  const asKey = (words: readonly string[]) =>
    runCommand(words, { TERRARIUM_URL: server.url, TERRARIUM_SECRET: secret })
  assert.equal((await asKey(['eval', 'Add(1, 2)'])).stdout, '3\n')
  const listed = JSON.parse(await done('key', 'list', '--json', ...within))
  assert.deepEqual(
    listed.map(({ name, role }: { name: string; role: string }) => [name, role]),
    [['the backend', 'server']],
  )
  assert.match(
    await done('key', 'list', ...within),
    /^ID +ROLE +DATABASE {2}NAME\n\d+ {2}server +the backend\n$/,
  )
  await done('eval', ...within, 'CreateRole({ name: "clerk", privileges: [] })')
  const clerk = JSON.parse(await done('key', 'create', '--role', 'clerk', '--json', ...within))
  assert.deepEqual([clerk.role, typeof clerk.secret], ['clerk', 'string'])
  assert.match(await done('key', 'list', ...within), /clerk/)
  assert.equal(await done('key', 'delete', listed[0].id, ...within), `deleted ${listed[0].id}\n`)
  assert.match((await asKey(['eval', '1'])).stderr, /does not know the secret/)
  assert.match((await run('key', 'delete', '12345', ...within)).stderr, /there is no key 12345/)
  assert.equal((await run('key', 'delete', 'x')).status, 2)
  assert.equal((await run('key', 'create')).status, 2)
  assert.match((await run('key', 'create', '--role', 'nobody', ...within)).stderr, /^terrarium: /)
})

test('a profile has address, secret and database; flags override it, and it overrides the environment', async () => {
  const file = join(folder, 'profiles.json')
  const env = { TERRARIUM_PROFILES: file }
  const withFile = (words: readonly string[], more: object = {}) => runCommand(words, { ...env, ...more })
  await done('database', 'create', 'mine')
  const there = ['--url', server.url, '--secret', server.rootSecret]
  const added = await withFile(['profile', 'add', 'local', ...there, '--database', 'mine'])
  assert.equal(added.stdout, `added local to ${file}\n`, added.stderr)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  const listed = await withFile(['profile', 'list'])
  assert.equal(
    listed.stdout,
    `NAME   ${'URL'.padEnd(server.url.length)}  DATABASE\nlocal  ${server.url}  mine\n`,
  )
  assert.ok(!(await withFile(['profile', 'list', '--json'])).stdout.includes(server.rootSecret))
  await withFile(['eval', '--profile', 'local', 'CreateCollection({ name: "things" })'])
  const names = ['eval', 'Map(Paginate(Collections()), x => Select("id", x))']
  const found = await withFile([...names, '--profile', 'local'], { TERRARIUM_URL: 'http://127.0.0.1:1' })
  assert.match(found.stdout, /things/, found.stderr)
  assert.match((await withFile(names, { TERRARIUM_PROFILE: 'local' })).stdout, /things/)
  const other = await withFile(['database', 'create', 'inner', '--profile', 'local'])
  assert.equal(other.status, 0, other.stderr)
  const flag = await withFile([...names, '--profile', 'local', '--database', 'mine/inner'])
  assert.doesNotMatch(flag.stdout, /things/)
  const exported = await withFile(['export', join(folder, 'exported'), '--profile', 'local'])
  assert.match(exported.stdout, /of 2 databases/, exported.stderr)
  const unknown = await withFile(['eval', '--profile', 'none', '1'])
  assert.deepEqual(
    [unknown.status, /unknown profile "none"; there are local/.test(unknown.stderr)],
    [2, true],
  )
  assert.equal((await withFile(['profile', 'delete', 'local'])).status, 0)
  assert.equal((await withFile(['profile', 'delete', 'local'])).status, 1)
  assert.equal(await readFile(file, 'utf8'), '{}\n')
  assert.equal((await withFile(['profile', 'add', 'x'])).status, 2)
  await writeFile(file, '[1]')
  assert.match((await withFile(['eval', '--profile', 'x', '1'])).stderr, /is not a file of profiles/)
})

test('account keys are listed as JSON', async () => {
  const data = join(folder, 'data')
  await mkdir(data, { recursive: true })
  await outputOf(['account-key', 'create', '--name', 'pipeline', '--data', data])
  const [key] = JSON.parse(await outputOf(['account-key', 'list', '--json', '--data', data]))
  assert.deepEqual([key.name, key.expires_at, key.region_groups], ['pipeline', null, null])
})

test('--help before a command explains it', async () => {
  const before = await run('--help', 'key', 'create')
  assert.equal(before.stdout, await done('key', 'create', '--help'))
  assert.match(await done('--help', 'rewind'), /^NAME\n {4}terrarium rewind - /)
  assert.match(await done('--help'), /^NAME\n {4}terrarium - /)
  assert.match((await run('--help', 'revind')).stderr, /unknown command "revind"; did you mean "rewind"/)
})
