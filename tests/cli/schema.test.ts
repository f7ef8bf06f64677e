// `terrarium schema pull` and `push`: a schema is written to files and restored, even if its objects refer to one
// another.

import assert from 'node:assert/strict'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { rootQuery } from '../support/http.ts'
import { runProgram } from '../support/program.ts'
import { serverOfFile } from '../support/server.ts'
import { contents, schemaCommands } from './schema-commands.ts'

const server = serverOfFile()
const folder = folderOfFile()
const { databaseWith, evaluate, outputOf, pull, pulled, push, pushed, run } = schemaCommands(server, folder)

/** Schema files with a circular reference between a function and a role. */
const files = {
  'functions/sign_up.fql': `CreateFunction({
    name: "sign_up", role: Role("clerk"), // a new one
    body: Query(email => Create(Collection("users"), { data: { email: LowerCase(email) } }))
  })`,
  'roles/clerk.fql': `CreateRole({
    name: "clerk",
    membership: { resource: Collection("users"), predicate: Query(Lambda("ref", true)) },
    privileges: [
      { resource: Collection("users"), actions: { read: true, create: true } },
      { resource: Function("sign_up"), actions: { call: true } },
      { resource: Index("users_by_email"), actions: { read: Query((terms) => Equals(terms, ["a"])) } }
    ]
  })`,
  'indexes/users_by_email.fql': `CreateIndex({
    name: "users_by_email", source: Collection("users"), unique: true, terms: [{ field: ["data", "email"] }]
  })`,
  'access_providers/login.fql': `CreateAccessProvider({
    name: "login", issuer: "https://id.example.org", jwks_uri: "https://id.example.org/jwks", roles: [Role("clerk")]
  })`,
  'collections/users.fql': 'CreateCollection({ name: "users", history_days: 3, data: { note: "people" } })',
}

test('push creates a schema with circular references, and pull writes the same files', async () => {
  const place = await databaseWith('first', files)
  const dry = await push('first', '--dry-run')
  assert.deepEqual([dry.status, dry.stderr], [0, ''])
  const plan = [
    'access provider login',
    'collection users',
    'function sign_up',
    'index users_by_email',
    'role clerk',
  ]
  assert.equal(dry.stdout, `${plan.map(line => `+ ${line}\n`).join('')}0 unchanged\n`)
  assert.equal(await evaluate('first', 'Count(Collections())'), '0')

  const unasked = await runProgram(['schema', 'push', place, '--database', 'first'], {
    TERRARIUM_URL: server.url,
    TERRARIUM_SECRET: server.rootSecret,
  })
  assert.equal(unasked.status, 1)
  assert.match(unasked.stderr, /give --yes/)

  assert.match(await pushed('first', '--yes'), /made 5 changes\n$/)
  assert.equal(await evaluate('first', 'Select("role", Get(Function("sign_up")))'), 'Role("clerk")')
  assert.match(await evaluate('first', 'Call("sign_up", "A@B")'), /email: "a@b"/)

  assert.equal(await pushed('first'), '5 unchanged\n')
  assert.equal(await pulled('first'), '5 unchanged\n')
  assert.deepEqual(await contents(place), files, 'files with the same content are unchanged')

  const copy = join(folder, 'second')
  await outputOf('schema', 'pull', copy, '--database', 'first')
  const written = await contents(copy)
  assert.deepEqual(Object.keys(written).sort(), Object.keys(files).sort())
  assert.equal(
    written['functions/sign_up.fql'],
    [
      'CreateFunction({',
      '  name: "sign_up",',
      '  body: Query(Lambda("email", Create(Collection("users"), {',
      '    data: { email: LowerCase(Var("email")) }',
      '  }))),',
      '  role: Role("clerk")',
      '})',
      '',
    ].join('\n'),
  )
  await rootQuery(server, { create_database: { object: { name: 'second' } } })
  await pushed('second', '-y')
  const compared = await outputOf('schema', 'push', place, '--database', 'second')
  assert.equal(compared, '5 unchanged\n', 'the copy creates the same schema')
})

test('push changes differing objects, rebuilds an index if necessary, and deletes on request', async () => {
  const place = await databaseWith('third', files)
  await pushed('third', '-y')
  await writeFile(join(place, 'collections/users.fql'), 'CreateCollection({ name: "users" })')
  await writeFile(
    join(place, 'indexes/users_by_email.fql'),
    'CreateIndex({ name: "users_by_email", source: Collection("users"), terms: [{ field: ["data", "mail"] }] })',
  )
  await writeFile(join(place, 'roles/clerk.fql'), 'CreateRole({ name: "clerk", privileges: [] })')
  await writeFile(
    join(place, 'functions/sign_up.fql'),
    'CreateFunction({ name: "sign_up", body: Query(x => 1) })',
  )
  await rm(join(place, 'access_providers'), { recursive: true })
  assert.equal(
    await pushed('third', '--yes'),
    [
      '~ collection users: history_days, data',
      '~ function sign_up: body, role',
      '~ index users_by_email: terms, unique (deleted and built again)',
      '~ role clerk: privileges, membership',
      '? access provider login: in no file, kept',
      '0 unchanged',
      'made 4 changes',
      '',
    ].join('\n'),
  )
  const fields = await evaluate(
    'third',
    '[Select("history_days", Get(Collection("users"))), Select("role", Get(Function("sign_up")), "none"), Select("membership", Get(Role("clerk")), "none")]',
  )
  assert.equal(fields, '[30, "none", "none"]')
  assert.match(await pushed('third', '--yes', '--delete'), /^- access provider login\n4 unchanged\n/)
  assert.equal(await evaluate('third', 'Exists(AccessProvider("login"))'), 'false')
})

test('changeable fields of an index are changed without a rebuild', async () => {
  const index = (rest: string) =>
    `CreateCollection({ name: "a" })\nCreateIndex({ name: "i", source: Collection("a")${rest} })`
  const place = await databaseWith('fourth', {
    'all.fql': index(', data: { old: 1 }, permissions: { read: "public" }'),
  })
  await pushed('fourth', '-y')
  await writeFile(join(place, 'all.fql'), index(', data: { fresh: 2 }'))
  assert.match(await pushed('fourth', '-y'), /^~ index i: data, permissions\n1 unchanged\n/)
  assert.equal(await evaluate('fourth', 'Select("data", Get(Index("i")))'), '{ fresh: 2 }')
  assert.equal(await pushed('fourth'), '2 unchanged\n')
})

test('a failed push changes nothing, and shows the position in the file', async () => {
  await databaseWith('fifth', {
    'collections/a.fql': 'CreateCollection({ name: "a" })',
    'functions/f.fql': 'CreateFunction({\n  name: "f",\n  body: "no function"\n})',
  })
  const { status, stderr } = await push('fifth', '--yes')
  assert.equal(status, 1)
  assert.match(
    stderr,
    /^schema validation failed: [^\n]*`body`\.\n {2}at \S*functions\/f\.fql:1:16\n {4}CreateFunction\(\{\n/,
  )
  assert.match(stderr, /nothing was changed\n$/)
  assert.equal(await evaluate('fifth', 'Exists(Collection("a"))'), 'false')
})

test('the reason of a rejected push is shown at the field', async () => {
  const place = await databaseWith('faults', {})
  await mkdir(place)
  const cases: readonly (readonly [text: string, message: RegExp])[] = [
    [
      'CreateCollection({ name: "a" })\nCreateIndex({ name: "i", source: Collection("gone") })',
      /^validation failed: source: invalid reference: [^\n]*\n {2}at \S*x\.fql:2:34\n.*\n {37}\^{18}\n/,
    ],
    [
      'CreateRole({ name: "r", privileges: { resource: Function("gone"), actions: { call: true } } })',
      /^validation failed: privileges\.resource: invalid reference: [^\n]*\n {2}at \S*x\.fql:1:49\n/,
    ],
    ['CreateCollection({ name: "a/b" })', /^validation failed: name: [^\n]*\n {2}at \S*x\.fql:1:26\n/],
    ['CreateFunction({ name: "f" })', /^validation failed: body: [^\n]*\n {2}at \S*x\.fql:1:16\n/],
  ]
  for (const [text, message] of cases) {
    await writeFile(join(place, 'x.fql'), text)
    const { status, stderr } = await push('faults', '--yes')
    assert.match(stderr, message)
    assert.match(stderr, /nothing was changed\n$/)
    assert.equal(status, 1)
  }
})

test('errors in files are shown with their position, before any request to the database', async () => {
  const place = await databaseWith('sixth', {})
  await mkdir(place)
  const cases: readonly (readonly [text: string, message: RegExp])[] = [
    ['CreateCollection({ name: "a" )', /^syntax error: unexpected token\n {2}at \S*x\.fql:1:30\n/],
    ['Get(Collection("a"))', /^syntax error: a schema file may only contain calls of CreateCollection, /],
    ['CreateRole({ privileges: [] })', /^syntax error: the role has no name/],
    [
      'CreateCollection({ name: "a" })\nCreateClass({ name: "a" })',
      /^duplicate object: the collection a is already in \S*x\.fql\n/,
    ],
    [
      'CreateCollection({ name: "a", history_days: Divide(1, 0) })',
      /^invalid argument: [^\n]*\n.*\n.*\n {48}\^{12}\n/,
    ],
  ]
  for (const [text, message] of cases) {
    await writeFile(join(place, 'x.fql'), text)
    const { status, stderr } = await push('sixth', '--yes')
    assert.match(stderr, message)
    assert.equal(status, 2)
  }
  await writeFile(join(place, 'x.fql'), '// nothing')
  assert.equal((await push('sixth')).status, 1)
  assert.equal((await run('schema', 'push', join(place, 'nowhere'), '--database', 'sixth')).status, 1)
})

test('the resource files of the old schema-migrate tool are read, its migrations are not', async () => {
  await databaseWith('seventh', {
    'fauna/resources/collections/users.fql': 'CreateCollection({ name: "users" })',
    'fauna/resources/deep/er/users_by_name.fql':
      'CreateIndex({ name: "users_by_name", source: Collection("users"), terms: [{ field: ["data", "name"] }] })',
    'fauna/migrations/2021-01-01T00:00:00.000Z/update-function.fql':
      'Update(Function("gone"), { role: null })',
    'package.json': '{}',
  })
  assert.match(await pushed('seventh', '--yes'), /^\+ collection users\n\+ index users_by_name\n/)
})

test('resources in JavaScript are parsed, and listed if they would have to be run', async () => {
  await databaseWith('scripts', {
    'fauna/resources/collections/users.js':
      "import { CreateCollection } from 'faunadb'\nexport default CreateCollection({ name: 'users' })\n",
    'fauna/resources/indexes/users_by_email.js': `
      const { query: q } = require('faunadb')
      const { Collection, CreateIndex } = q
      const field = ['data', 'email']
      module.exports = CreateIndex({ name: 'users_by_email', source: Collection('users'), terms: [{ field }] })`,
    'fauna/resources/functions/login.ts': `
      import * as fauna from 'faunadb'
      const q = fauna.query
      export const role = q.Role('clerk'), lifetime = 60
      const login = q.CreateFunction({
        name: 'login', role, data: { lifetime },
        body: q.Query(q.Lambda(['email'], q.Exists(q.Match(q.Index('users_by_email'), q.Var('email')))))
      });
      export default login;`,
    'fauna/resources/roles/clerk.fql':
      'CreateRole({ name: "clerk", privileges: [{ resource: Index("users_by_email"), actions: { read: true } }] })',
    'fauna/resources/functions/refresh.js':
      "import { CreateFunction, Lambda, Query } from 'faunadb'\nimport { Refresh } from '../refresh'\n" +
      "export default CreateFunction({ name: 'refresh', body: Query(Lambda([], Refresh())) })\n",
    'fauna/resources/functions/typed.ts': 'const a: number = 1\nexport default a\n',
    'fauna/resources/dbs/child/collections/toys.fql': 'CreateCollection({ name: "toys" })',
  })
  const { status, stdout, stderr } = await push('scripts', '--yes')
  assert.equal(status, 0, stderr)
  assert.match(stdout, /^\+ collection users\n\+ function login\n\+ index users_by_email\n\+ role clerk\n/)
  assert.match(
    stderr,
    /^skipped, because scripts are not run: unknown name "Refresh"[^\n]*\n {2}at \S*functions\/refresh\.js:3:73\n/,
  )
  assert.match(stderr, /^skipped, because scripts are not run: [^\n]*\n {2}at \S*functions\/typed\.ts:1:8\n/m)
  assert.match(stderr, /^skipped: \S*fauna\/resources\/dbs\/child is the schema of a child database/m)
  assert.equal(await evaluate('scripts', 'Call("login", "nobody")'), 'false')
  assert.equal(await evaluate('scripts', 'Select(["data", "lifetime"], Get(Function("login")))'), '60')
  assert.equal(await evaluate('scripts', 'Exists(Collection("toys"))'), 'false')
  assert.equal(await pushed('scripts'), '4 unchanged\n')
  const deleting = await push('scripts', '--delete', '--yes')
  assert.deepEqual([deleting.status, /--delete would delete/.test(deleting.stderr)], [1, true])
  await evaluate('scripts', 'Update(Collection("users"), { history_days: 1 })')
  const refused = await pull('scripts', '--yes')
  assert.equal(refused.status, 1)
  assert.match(
    refused.stderr,
    /collections\/users\.js differs from the database, and only \.fql files can be written/,
  )
})

test('pull rewrites differing files, keeps others, and lists files of deleted objects', async () => {
  const place = await databaseWith('eighth', {
    'one.fql': 'CreateCollection({ name: "one" }) // kept',
    'two.fql': 'CreateCollection({ name: "two", history_days: 1 })',
    'gone.fql': 'CreateRole({ name: "gone", privileges: [] })',
  })
  await evaluate(
    'eighth',
    'CreateCollection({name: "one"}) CreateCollection({name: "two"}) CreateCollection({name: "x%2F;y"})',
  )
  const unasked = await pull('eighth')
  assert.equal(unasked.status, 1)
  assert.match(unasked.stderr, /give --yes/, 'a file would be overwritten')
  assert.match(
    await pulled('eighth', '--yes'),
    /^\+ \S*x%252F%3By\.fql\n~ \S*two\.fql\n\? \S*gone\.fql: the database has no role gone\n1 unchanged\nwrote 2 files\n$|^~ \S*two\.fql\n\+ \S*x%252F%3By\.fql\n\? \S*gone\.fql: the database has no role gone\n1 unchanged\nwrote 2 files\n$/,
  )
  const written = await contents(place)
  assert.equal(written['one.fql'], 'CreateCollection({ name: "one" }) // kept')
  assert.equal(written['two.fql'], 'CreateCollection({ name: "two" })\n')
  assert.equal(written['collections/x%252F%3By.fql'], 'CreateCollection({ name: "x%2F;y" })\n')
})

test('--json prints the changes of a push and a pull, and whether they were made', async () => {
  const place = await databaseWith('as_json', {
    'collections/users.fql': 'CreateCollection({ name: "users", history_days: 3 })',
  })
  const target = ['--database', 'as_json', '--json']
  const results = async (...words: string[]) => JSON.parse(await outputOf('schema', ...words, ...target))
  const changes = [{ action: 'create', kind: 'collection', name: 'users' }]
  const plan = { changes, unknown: [], unchanged: 0 }
  assert.deepEqual(await results('push', place, '--dry-run'), { ...plan, isDone: false })
  assert.deepEqual(await results('push', place, '--yes'), { ...plan, isDone: true })
  const same = { changes: [], unknown: [], unchanged: 1, isDone: false }
  assert.deepEqual([await results('push', place), await results('pull', place)], [same, same])
  await evaluate('as_json', 'Update(Collection("users"), { history_days: 4 })')
  const change = { action: 'change', kind: 'collection', name: 'users', fields: ['history_days'] }
  const changed = await results('push', place, '--yes')
  assert.deepEqual(changed, { changes: [change], unknown: [], unchanged: 0, isDone: true })

  const copy = join(folder, 'json_copy')
  const { changes: pulled, ...rest } = await results('pull', copy)
  assert.match(pulled[0].file, /json_copy\/collections\/users\.fql$/)
  assert.deepEqual([pulled.length, rest], [1, { unknown: [], unchanged: 0, isDone: true }])
  const fsl = join(folder, 'json_fsl')
  const files = { changes: [{ file: 'main.fsl', isNew: true }], unknown: [], isDone: true }
  const shown = await results('pull', fsl, '--fql', '10')
  assert.deepEqual({ ...shown, changes: [{ ...shown.changes[0], file: 'main.fsl' }] }, files)
  await writeFile(join(fsl, 'more.fsl'), 'collection More {}\n')
  const diff = await results('push', fsl, '--dry-run')
  assert.match(diff.changes, /More/)
  assert.deepEqual([diff.isStaged, diff.isDone], [false, false])
})
