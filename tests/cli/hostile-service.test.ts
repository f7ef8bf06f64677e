// Commands that are given the address of a hostile program: they print no control characters, end with an error in one
// line, and write no files outside of their folder.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { runCommand } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'

const folder = folderOfFile()

/** Answers a request. */
let answer: (url: string, response: ServerResponse) => void
const service = createServer((request, response) => {
  // An idle connection could be closed while the next command uses it.
  response.setHeader('connection', 'close')
  request.resume().on('end', () => answer(request.url ?? '', response))
})

before(async () => {
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
})

after(() => {
  service.closeAllConnections()
  service.close()
})

function run(words: readonly string[], input = '') {
  const url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`
  return runCommand(words, { TERRARIUM_URL: url, TERRARIUM_SECRET: 'a-secret', NO_COLOR: '' }, input)
}

/** The service answers each path with JSON; the JSON of `*` is for all other paths. */
function answers(json: Readonly<Record<string, unknown>>): void {
  answer = (url, response) => {
    const path = url.replace(/\?.*/, '')
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(json[path] ?? json['*']))
  }
}

const evil = '\u001b]0;owned\u0007\u001b[2J\u009b1m'
const control = /(?![\n\t])\p{Cc}/u

test('eval and shell escape control characters in all parts of an error', async () => {
  const wire = {
    code: `c${evil}`,
    description: `d${evil}`,
    position: [`p${evil}`],
    failures: [{ field: [`f${evil}`], code: evil, description: evil }],
    cause: [{ code: evil, description: evil, position: [evil] }],
  }
  answers({
    '/query/1': { error: { code: `c${evil}`, message: `m${evil}` }, summary: `s${evil}` },
    '*': { errors: [wire] },
  })
  for (const version of ['4', '10']) {
    const one = await run(['eval', '--fql', version, '1'])
    const all = [one, await run(['shell', '--fql', version], '1\n')]
    for (const { stderr, stdout } of all) assert.doesNotMatch(stderr + stdout, control, version)
    assert.match(one.stderr, /c\\u001b\]0;owned\\u0007/)
  }
})

test('types escapes control characters of a line with an error', async () => {
  answers({
    '/schema/1/files': { version: 1, files: [{ filename: 'main.fsl' }] },
    '/schema/1/files/main.fsl': { version: 1, content: `collection C {\n  a: ${evil} !\n}` },
  })
  const { status, stderr, stdout } = await run(['types'])
  assert.equal(status, 2)
  assert.match(stderr, /at main\.fsl:2:/)
  assert.doesNotMatch(stderr + stdout, control)
})

test('a response without an end ends a command', async () => {
  answer = (_, response) => {
    const chunk = Buffer.alloc(1_048_576, ' ')
    const write = () => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', write)
    write()
  }
  const { status, stderr } = await run(['eval', '1'])
  assert.equal(status, 1)
  assert.match(stderr, /^terrarium: \S+ cannot be used: its response is longer than 134217728 bytes\n$/)
})

const push = { version: 1, status: 'none', files: [] }
const responses: Readonly<Record<string, unknown>> = {
  'an empty object': {},
  null: null,
  'a text': 'x',
  'other types': { version: {}, status: 1, files: {}, diff: [], content: 0, outcomes: 1, data: 1 },
  'a push without a diff': push,
  'a push with another diff': { ...push, diff: { length: 1 } },
  'null in lists': { ...push, files: [null] },
}

test('schema push, schema pull, types, import and export explain a response of another program', async () => {
  const schema = join(folder, 'schema')
  await mkdir(schema)
  await writeFile(join(schema, 'main.fsl'), 'collection C {}\n')
  const rows = join(folder, 'rows.jsonl')
  await writeFile(rows, '{"a":1}\n')
  const commands = [
    ['schema', 'push', schema, '--yes'],
    ['schema', 'pull', join(folder, 'pulled'), '--fql', '10'],
    ['types'],
    ['import', rows, '--state', join(folder, 'state')],
    ['export', join(folder, 'exported')],
  ]
  for (const [name, json] of Object.entries(responses)) {
    answers({ '*': json })
    for (const words of commands) {
      const { status, stderr, stdout } = await run(words)
      // An empty list of files is an answer.
      if (status === 0)
        assert.ok(name.startsWith('a push') && words[0] !== 'export', `${words} ${name} ${stdout}`)
      else assert.match(stderr, /^terrarium: [^\n]+\n$/, `${words} with ${name}`)
    }
  }
})

test('a push continues if only the version of the schema has changed since its plan', async () => {
  const place = join(folder, 'versions')
  await mkdir(place)
  await writeFile(join(place, 'main.fsl'), 'collection C {}\n')
  for (const changed of [false, true]) {
    let version = 1
    const updates: string[] = []
    answer = (url, response) => {
      const isUpdate = url.startsWith('/schema/1/update')
      if (isUpdate) updates.push(url)
      // The build of an index ends before the first update.
      const isStale = isUpdate && version++ === 1
      const diff = changed && version > 1 ? 'other' : 'a change'
      const error = { error: { message: 'Stale schema version provided' } }
      response.statusCode = isStale ? 409 : 200
      response.end(JSON.stringify(isStale ? error : { ...push, version, diff }))
    }
    const { status, stderr } = await run(['schema', 'push', place, '--yes'])
    assert.equal(status, changed ? 1 : 0, stderr)
    const wanted = ['version=1', ...(changed ? [] : ['version=2'])]
    assert.deepEqual(
      updates.map(url => /version=\d/.exec(url)?.[0]),
      wanted,
    )
    if (changed) assert.match(stderr, /has changed since the changes were listed/)
  }
})

/** Names of files outside of the folder, or of files that other programs run. */
const names = ['../outside.fsl', '/tmp/outside.fsl', '.git/hooks/pre-commit', 'package.json']

test('schema pull writes only .fsl files, and only in its folder', async () => {
  for (const name of names) {
    const place = join(folder, 'target')
    await mkdir(place, { recursive: true })
    answers({ '/schema/1/files': { files: [{ filename: name }] }, '*': { content: 'x' } })
    const { status, stderr } = await run(['schema', 'pull', place, '--fql', '10', '--yes'])
    assert.equal(status, 1, name)
    assert.match(stderr, /is outside of|does not end with \.fsl/)
    assert.deepEqual(await readdir(place), [])
  }
})
