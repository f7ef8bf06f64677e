// `terrarium eval` and `terrarium run` in scripts: on a service, on a served data directory, and on one that is not
// served.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { runCommand } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { rootQuery } from '../support/http.ts'
import { outputOf, type ProgramResult, program as programFile, runProgram } from '../support/program.ts'
import { serverOfFile, startServer } from '../support/server.ts'
import { assertSound } from '../support/sound.ts'

const server = serverOfFile()
const folder = folderOfFile()
before(async () => {
  await rootQuery(server, { create_collection: { object: { name: 'users' } } })
  await rootQuery(server, { create_database: { object: { name: 'shop' } } })
})

const environment = () => ({ TERRARIUM_URL: server.url, TERRARIUM_SECRET: server.rootSecret, NO_COLOR: '' })

/** Runs a command against the server, in the process of the test. */
const onServer = (words: readonly string[]) => runCommand(words, environment())

/** Runs the program against the server; `input` is its standard input. */
function program(words: readonly string[], input = ''): Promise<ProgramResult> {
  return new Promise(resolve => {
    const env = { ...process.env, ...environment() }
    const child = execFile(process.execPath, [programFile, ...words], { env }, (error, stdout, stderr) => {
      resolve({ status: error ? Number(error.code ?? -1) : 0, stdout, stderr })
    })
    child.stdin?.end(input)
  })
}

test('eval prints results as text, or as JSON', async () => {
  const text = await onServer(['eval', 'Add(1, 2) Collection("users")'])
  assert.deepEqual(text, { status: 0, stdout: '3\nCollection("users")\n', stderr: '' })
  const json = await onServer(['eval', '--json', '[1.0, 9223372036854775807]; Collection("users")'])
  const ref = '{"@ref":{"id":"users","collection":{"@ref":{"id":"collections"}}}}'
  assert.deepEqual(json, { status: 0, stdout: `[1.0,9223372036854775807]\n${ref}\n`, stderr: '' })
  const last = await onServer(['eval', '--last', '1 2 3'])
  assert.equal(last.stdout, '3\n')
})

test('an invalid query that looks like the other version gets a hint', async () => {
  const { stderr: in4 } = await onServer(['eval', 'Collection.all().count()'])
  assert.match(in4, /^syntax error: .*looks like version 10 of the language: use --fql 10/s)
  const { stderr: in10 } = await onServer(['eval', '--fql', '10', 'Paginate(Collections())'])
  assert.match(in10, /Unbound variable `Paginate`.*looks like version 4 of the language: use --fql 4/s)
  for (const words of [['Add(1 2)'], ['--fql', '10', 'missing()']]) {
    const { status, stderr } = await onServer(['eval', ...words])
    assert.notEqual(status, 0)
    assert.doesNotMatch(stderr, /looks like/)
  }
})

test('eval --explain shows what a query reads and the index it lacks', async () => {
  for (const make of ['Collection.create({ name: "orders" })', 'orders.create({ status: "open" })']) {
    assert.equal((await onServer(['eval', '--fql', '10', make])).status, 0)
  }
  const filter = 'orders.where(.status == "open")'
  const { status, stdout } = await onServer(['eval', '--fql', '10', '--explain', filter])
  assert.equal(status, 0)
  assert.equal(
    stdout,
    `collection orders    1 entry
documents of orders  1 document
entries read         1
documents read       1
returned             1

The query reads all of orders. This index would avoid it:
    index byStatus {
      terms [.status]
    }
`,
  )
  const json = await onServer(['eval', '--explain', '--json', 'Paginate(Documents(Collection("orders")))'])
  assert.deepEqual(JSON.parse(json.stdout).sets, [
    { kind: 'collection', collection: 'orders', scans: 1, entries: 1 },
  ])
  const failed = await onServer(['eval', '--explain', 'Abort("stop")'])
  assert.equal(failed.status, 1)
  assert.match(failed.stderr, /^transaction aborted: /)
})

test('eval - and run - read standard input', async () => {
  for (const command of ['eval', 'run']) {
    const { status, stdout } = await program([command, '-'], '// a comment\nAdd(20,\n 22)\n')
    assert.deepEqual([status, stdout], [0, '42\n'])
  }
})

test('a failed query shows its position, and ends the command with status 1', async () => {
  const { status, stdout, stderr } = await program(['eval', '1; [Abort("stop")]; 2'])
  assert.deepEqual([status, stdout], [1, '1\n'])
  assert.equal(stderr, 'transaction aborted: stop\n    1; [Abort("stop")]; 2\n        ^^^^^^^^^^^^^\n')
  const json = await onServer(['eval', '--json', 'Abort("stop")'])
  assert.equal(JSON.parse(json.stderr).errors[0].code, 'transaction aborted')
})

test('errors in a function are shown below its call', async () => {
  const made = 'CreateFunction({name: "fail", body: Query(Lambda("x", Divide(Var("x"), 0)))})'
  assert.equal((await onServer(['eval', made])).status, 0)
  const { stderr } = await onServer(['eval', 'Call("fail", 1)'])
  assert.match(
    stderr,
    /^call error: .*\n {4}Call\("fail", 1\)\n {4}\^+\n {4}invalid argument: .*of the function\)\n$/,
  )
})

test('an invalid text ends with status 2, and no part of it runs', async () => {
  const file = join(folder, 'broken.fql')
  await writeFile(file, 'CreateCollection({name: "never"})\nGett(\n')
  const { status, stdout, stderr } = await program(['run', file])
  assert.deepEqual([status, stdout], [2, ''])
  assert.match(stderr, new RegExp(`^syntax error: .*\\n  at ${file}:\\d+:\\d+\\n`))
  assert.equal((await onServer(['eval', 'Exists(Collection("never"))'])).stdout, 'false\n')
  assert.equal((await onServer(['eval', ''])).status, 2)
  assert.equal((await onServer(['run', join(folder, 'nowhere.fql')])).status, 1)
})

test('another database, and the rights of another role', async () => {
  const made = await onServer(['eval', '--database', 'shop', 'CreateCollection({name: "things"})'])
  assert.equal(made.status, 0, made.stderr)
  assert.equal((await onServer(['eval', 'Exists(Collection("things"))'])).stdout, 'false\n')
  const rejected = await onServer(['eval', '--database=shop', '--as', 'client', 'Paginate(Collections())'])
  assert.equal(rejected.status, 1)
  assert.match(rejected.stderr, /^permission denied/)
  for (const [words, reason] of [
    [['--database', 'shop/nowhere'], 'there is no database shop/nowhere, or the secret may not open it'],
    [['--as', '@role/none'], '@role/none does not exist, or the secret may not act as @role/none'],
    [
      ['--database', 'shop', '--as', 'chief'],
      'chief does not exist in shop, or the secret may not act as chief',
    ],
    [['--database', 'shop', '--secret', 'none'], `${server.url} does not know the secret`],
    [['--fql', '10', '--secret', 'none'], `${server.url} does not know the secret`],
  ] as const) {
    const { status, stderr } = await onServer(['eval', ...words, '1'])
    assert.deepEqual([status, stderr], [1, `terrarium: ${reason}\n`])
  }
})

test('control characters are escaped on a terminal, and JSON for programs is unchanged', async () => {
  const text = '"a\\u202eb\\u200b\\u001b[31m\\n"'
  assert.equal((await onServer(['eval', text])).stdout, `${text}\n`)
  assert.equal((await onServer(['eval', '--json', text])).stdout, '"a\u202eb\u200b\\u001b[31m\\n"\n')
  assert.equal((await onServer(['eval', '--fql', '10', '"a\\u{202e}b"'])).stdout, '"a\\u202eb"\n')
  const { stderr } = await onServer(['eval', `Abort(${text})`])
  assert.match(stderr, /^transaction aborted: a\\u202eb\\u200b\\u001b\[31m\n/)
})

test('an unreachable service, or a missing secret, is reported in one line', async () => {
  const gone = await runCommand(['eval', '1', '--url', 'http://127.0.0.1:1', '--secret', 'x'])
  assert.equal(gone.status, 1)
  assert.match(gone.stderr, /^terrarium: http:\/\/127\.0\.0\.1:1 cannot be reached: [^\n]*\n$/)
  const lacking = await runCommand(['eval', '1', '--url', server.url])
  assert.deepEqual([lacking.status, lacking.stderr.split(' (')[0]], [2, 'terrarium: --url needs --secret'])
  const other = await runCommand(['eval', '1', '--url', 'localhost', '--secret', 'x'])
  assert.equal(other.status, 2)
})

test('a served data directory is reached through its service', async () => {
  const env = { TERRARIUM_ROOT_SECRET: server.rootSecret }
  const { status, stdout, stderr } = await runProgram(['eval', 'Add(1, 1)', '--data', server.data], env)
  assert.deepEqual([status, stdout], [0, '2\n'], stderr)
  const lacking = await runProgram(['eval', '1', '--data', server.data])
  assert.equal(lacking.status, 1)
  assert.match(lacking.stderr, /the service at http:.* uses the data directory .* give --secret\n$/)
})

test('a data directory that is not served is opened, and unchanged afterwards', async () => {
  const data = join(folder, 'own')
  const missing = await runProgram(['eval', '1', '--data', data])
  assert.equal(missing.status, 1)
  assert.match(missing.stderr, /^terrarium: there is no data directory .*\n$/)
  assert.ok(!existsSync(data))
  await mkdir(data)
  const query = 'CreateCollection({name: "a"}) Create(Ref(Collection("a"), "1"), {data: {n: 1}})'
  await outputOf(['eval', query, '--data', data])
  const select = 'Select(["data", "n"], Get(Ref(Collection("a"), "1")))'
  const read = await runProgram(['eval', select, '--data', data])
  assert.deepEqual([read.stdout, read.stderr], ['1\n', ''])
  assert.ok(!existsSync(join(data, 'root-secret')), 'no secret was made')
  assert.ok(!existsSync(join(data, 'service-url')), 'no address was left')
  await assertSound(data)
})

test('the address of the service is written into the data directory, and removed', async () => {
  const data = join(folder, 'noted')
  const noted = join(data, 'service-url')
  const other = await startServer({ data, flags: ['--host', '0.0.0.0'] })
  assert.equal(await readFile(noted, 'utf8'), `http://127.0.0.1:${new URL(other.url).port}\n`)
  await other.stop()
  assert.ok(!existsSync(noted))
})

test('eval and run accept texts of version 10, which are one query each', async () => {
  const text = await onServer(['eval', '--fql', '10', 'let n = 2\nlog("seen", n)\n[n, { a: "b" }]'])
  assert.equal(text.status, 0)
  assert.equal(text.stdout, '[\n  2,\n  {\n    a: "b"\n  }\n]\n')
  assert.match(text.stderr, /info at \*query\*:2: seen 2/)
  const asJson = await runCommand(['run', '--fql', '10', '--json', '-'], environment(), '"a \\"text\\""')
  assert.equal(asJson.stdout, '"a \\"text\\""\n')
  const json = await runCommand(['run', '--fql', '10', '--json', '-'], environment(), '[1, 2.5]')
  assert.deepEqual(json, { status: 0, stdout: '[1,2.5]\n', stderr: '' })
  const failed = await onServer(['eval', '--fql=10', '1 / 0'])
  assert.equal(failed.status, 1)
  assert.match(
    failed.stderr,
    /Attempted integer division by zero\.\nat \*query\*:1:5\n[\s\S]*\ndivide_by_zero\n$/,
  )
  const wrong = await onServer(['eval', '--fql=10', 'let = 1'])
  assert.equal(wrong.status, 2)
  assert.match(wrong.stderr, /^error: Expected/)
})

test('every command reports a data directory that cannot be claimed in one line', async () => {
  const data = join(folder, 'claimed')
  await (await startServer({ data })).stop()
  // Simulates a read-only file system: the files of the claim cannot be opened for writing.
  await rm(join(data, 'service'))
  await mkdir(join(data, 'service'))
  const commands = [
    ['eval', '1'],
    ['export', join(data, 'out')],
    ['schema', 'pull', join(data, 'files')],
    ['serve'],
  ]
  for (const words of commands) {
    const { status, stderr } = await runProgram([...words, '--data', data])
    assert.equal(status, 1, stderr)
    assert.match(stderr, /^terrarium: the data directory .* cannot be claimed: [^\n]+\n$/, words.join(' '))
  }
})
