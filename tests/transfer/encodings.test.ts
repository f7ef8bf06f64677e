// Text that is not UTF-8 is decoded correctly or rejected with its position; nothing damaged is stored.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { runCommand } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { query } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
const folder = folderOfFile()

const table = 'name,town\nAda,London\nMüller,Köln\n'
const words = ['import', '--state', 'STATE']

async function importFile(database: string, name: string, content: Buffer | string, ...more: string[]) {
  const file = join(folder, name)
  await writeFile(file, content)
  const target = ['--url', server.url, '--database', database, '--collection', 'people']
  return runCommand([...words.with(2, join(folder, 'state')), ...target, ...more, file], {
    TERRARIUM_SECRET: server.rootSecret,
  })
}

const names = {
  select: ['data'],
  from: {
    map: { lambda: 'r', expr: { select: ['data', 'name'], from: { get: { var: 'r' } } } },
    collection: { paginate: { documents: { collection: 'people' } } },
  },
}

const read = (database: string) => query(server, `${server.rootSecret}:${database}:admin`, names)

test('text that is not UTF-8 is rejected with its position, and read when its encoding is specified', async () => {
  const latin = Buffer.from(table, 'latin1')
  const rejected = await importFile('latin', 'people.csv', latin)
  assert.equal(rejected.status, 1)
  assert.match(
    rejected.stderr,
    /people\.csv: byte 22 \(line 3\) is not valid UTF-8; use --encoding to name the encoding of the file\n$/,
  )
  for (const encoding of ['latin1', 'windows-1252']) {
    const { status, stderr } = await importFile(encoding, 'people.csv', latin, '--encoding', encoding)
    assert.equal(status, 0, stderr)
    assert.deepEqual(await read(encoding), ['Ada', 'Müller'])
  }
  const packed = await importFile('packed', 'people.csv.gz', gzipSync(latin), '--encoding', 'latin1')
  assert.equal(packed.status, 0, packed.stderr)
  assert.deepEqual(await read('packed'), ['Ada', 'Müller'])
  const unknown = await importFile('latin', 'people.csv', latin, '--encoding', 'latin-77')
  assert.deepEqual(
    [unknown.status, /--encoding: latin-77 is not a known encoding/.test(unknown.stderr)],
    [2, true],
  )
  const wrong = await importFile(
    'wrong',
    'people.csv',
    Buffer.concat([latin, Buffer.from([0xff])]),
    '--encoding',
    'utf-8',
  )
  assert.match(wrong.stderr, /not valid UTF-8/)
})

test('UTF-16 is recognized by its byte order mark', async () => {
  const lines = '{"name":"Ada"}\n{"name":"Müller"}\n'
  const little = Buffer.from(`\ufeff${lines}`, 'utf16le')
  for (const [database, content] of [
    ['little', little],
    ['big', Buffer.from(little).swap16()],
  ] as const) {
    const { status, stderr } = await importFile(database, 'people.jsonl', content)
    assert.equal(status, 0, stderr)
    assert.deepEqual(await read(database), ['Ada', 'Müller'])
  }
  const odd = await importFile('odd', 'people.jsonl', little.subarray(0, -1))
  assert.match(odd.stderr, /people\.jsonl: the text from byte \d+ on is not valid utf-16le\n$/)
})

test('characters and errors at the boundaries of the blocks that are read', async () => {
  const row = (name: string) => `${JSON.stringify({ name })}\n`
  const shift = row('').length - 3
  for (let back = 0; back < 4; back++) {
    const first = row('x'.repeat(65_536 - shift - 3 - back))
    const good = Buffer.from(`${first}${row('\u{1f600}ü')}`)
    const { status, stderr } = await importFile(`seam${back}`, 'seam.jsonl', good)
    assert.equal(status, 0, stderr)
    assert.equal(((await read(`seam${back}`)) as string[])[1], '\u{1f600}ü')
    const bad = Buffer.from(good)
    bad[good.indexOf(0xf0) + 1] = 0x20
    const rejected = await importFile(`seams${back}`, 'seam.jsonl', bad)
    assert.match(rejected.stderr, new RegExp(`byte ${good.indexOf(0xf0)} \\(line 2\\) is not valid UTF-8`))
  }
})
