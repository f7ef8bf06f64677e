// `Logout(true)` and the deletion of a user whose tokens have more bytes than one transaction may write.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { keyOfNewDatabase, query, runText, send } from '../support/http.ts'
import { type ServerProcess, startProcess, withoutSlowLane } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

const tokenCount = 20
const tokensPerQuery = 10
/** The tokens of a user have 18 MB; a transaction writes at most 16 MB. */
const bytesPerToken = 900_000

const data = folderOfFile()
const flags = ['--workers', '2', ...withoutSlowLane]

interface App {
  readonly server: ServerProcess
  readonly key: string
}

async function startApp(): Promise<App> {
  const server = await startProcess({ data, flags })
  const key = await keyOfNewDatabase(server, `app-${randomUUID()}`, 'admin')
  await query(server, key, { create_collection: { object: { name: 'users' } } })
  return { server, key }
}

/** Creates a user with many tokens, and returns the secrets of the tokens. */
async function createUser({ key, server }: App, id: string): Promise<string[]> {
  const user = `Ref(Collection("users"), "${id}")`
  await runText(server, key, `Create(${user}, {})`)
  const secrets: string[] = []
  const text = 'x'.repeat(bytesPerToken)
  const numbers = Array.from({ length: tokensPerQuery }, (_, at) => at)
  const token = `Create(Tokens(), { instance: ${user}, data: { text: Var("text") } })`
  const each = `Lambda("_", Select("secret", ${token}))`
  const create = `Let({ text: "${text}" }, Map(${JSON.stringify(numbers)}, ${each}))`
  while (secrets.length < tokenCount) secrets.push(...((await runText(server, key, create)) as string[]))
  return secrets
}

/** The statuses of requests with secrets. Each request has its own connection, so that all workers answer. */
async function statuses({ server }: App, secrets: readonly string[]): Promise<Set<number>> {
  const headers = { connection: 'close' }
  const answers = await Promise.all(secrets.map(secret => send(server, { secret, query: null, headers })))
  return new Set(answers.map(({ status }) => status))
}

async function untilDeleted({ key, server }: App, tokensLeft: number): Promise<void> {
  await eventually(
    'the revoked tokens are deleted',
    async () => Number(await runText(server, key, 'Count(Documents(Tokens()))')) === tokensLeft,
  )
}

test('all tokens are invalid at once after logout(true) or the deletion of the user, also after a crash', async () => {
  let app = await startApp()
  const secrets = await createUser(app, '1')
  assert.deepEqual(await statuses(app, secrets), new Set([200]))
  const login = 'Select("secret", Create(Tokens(), { instance: Ref(Collection("users"), "1") }))'
  const body = `Query(Lambda("_", ${login}))`
  await runText(app.server, app.key, `CreateFunction({ name: "login", role: "server", body: ${body} })`)
  const membership = '{ resource: Collection("users") }'
  const privilege = '{ resource: Function("login"), actions: { call: true } }'
  const role = `CreateRole({ name: "users", membership: ${membership}, privileges: [${privilege}] })`
  await runText(app.server, app.key, role)
  const logout = 'Let({ all: Logout(true) }, Call(Function("login"), null))'
  const later = String(await runText(app.server, String(secrets[0]), logout))
  assert.deepEqual(await statuses(app, secrets), new Set([401]))
  assert.deepEqual(await statuses(app, [later]), new Set([200]))
  const ofDeleted = await createUser(app, '2')
  await runText(app.server, app.key, 'Delete(Ref(Collection("users"), "2"))')
  await runText(app.server, app.key, 'Create(Ref(Collection("users"), "2"), {})')
  assert.deepEqual(await statuses(app, ofDeleted), new Set([401]))
  await app.server.kill()
  app = { ...app, server: await startProcess({ data, flags }) }
  assert.deepEqual(await statuses(app, [...secrets, ...ofDeleted]), new Set([401]))
  await untilDeleted(app, 1)
  assert.deepEqual(await statuses(app, [later]), new Set([200]))
  await app.server.stop()
  await assertSound(data)
})
