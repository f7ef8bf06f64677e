// `terrarium graphql import`: imports a schema from a file, and shows the reason if the service rejects the schema.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { commandsOn } from '../support/command.ts'
import { folderOfFile } from '../support/folder.ts'
import { dataOf } from '../support/graphql.ts'
import { keyOfNewDatabase } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
const folder = folderOfFile()
let secret = ''
before(async () => {
  secret = await keyOfNewDatabase(server, 'app', 'admin')
})

async function importFile(sdl: string, ...words: string[]) {
  const file = join(folder, 'schema.gql')
  await writeFile(file, sdl)
  return commandsOn(server).run('graphql', 'import', file, '--database', 'app', ...words)
}

test('a schema is imported into a database', async () => {
  const { status, stdout } = await importFile('type Todo { title: String! } type Query { allTodos: [Todo!] }')
  assert.equal(status, 0)
  assert.match(stdout, /The schema is imported/)
  await dataOf(server, secret, 'mutation { createTodo(data: {title: "a"}) { title } }')
})

test('a rejected schema is reported with its reason', async () => {
  const { status, stderr } = await importFile('type Todo { title: Text! }')
  assert.equal(status, 1)
  assert.match(stderr, /Unknown type 'Text' at 'Todo.title'/)
})

test('documents are deleted only after a confirmation', async () => {
  const sdl = 'type Todo { title: String! } type Query { allTodos: [Todo!] }'
  const { status, stderr } = await importFile(sdl, '--mode', 'override')
  assert.notEqual(status, 0)
  assert.match(stderr, /without a terminal, give --yes/)
  assert.deepEqual(await dataOf(server, secret, '{ allTodos { data { title } } }'), {
    allTodos: { data: [{ title: 'a' }] },
  })
  assert.equal((await importFile(sdl, '--mode', 'override', '--yes')).status, 0)
  assert.deepEqual(await dataOf(server, secret, '{ allTodos { data { title } } }'), {
    allTodos: { data: [] },
  })
})
