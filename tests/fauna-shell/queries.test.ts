// `fauna query` and `fauna database …` against a running server.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { keyOfNewDatabase, send, sendFql } from '../support/http.ts'
import { patience } from '../support/patience.ts'
import { serverOfFile } from '../support/server.ts'
import { type FaunaShell, type ShellResult, sharedShell } from './shell.ts'

describe('fauna', { timeout: patience(120_000) }, () => {
  const server = serverOfFile()
  let shell: FaunaShell | undefined
  let fault: string | undefined
  let secret: string

  before(async () => {
    const fetched = await sharedShell()
    if (typeof fetched === 'string') fault = fetched
    else shell = fetched
    secret = await keyOfNewDatabase(server, 'shop', 'admin')
  })

  const run = (...words: string[]): Promise<ShellResult> => (shell as FaunaShell).run(server, secret, words)

  test('query: values as text and as JSON', async t => {
    if (shell === undefined) return t.skip(fault)
    assert.match(
      (await run('query', '{ a: 1, b: [Time("2024-01-01T00:00:00Z")] }')).stdout,
      /a: 1,\s+b: \[\s*Time\("2024/,
    )
    const json = await run('query', '[1, 2].map(x => x + 1)', '--json')
    assert.deepEqual(JSON.parse(json.stdout), [2, 3])
  })

  test('query: errors are reported with their position', async t => {
    if (shell === undefined) return t.skip(fault)
    const { status, stderr } = await run('query', 'nothing + 1')
    assert.equal(status, 1)
    assert.match(stderr, /Unbound variable `nothing`\nat \*query\*:1:1/)
  })

  test('database: create, list, delete', async t => {
    if (shell === undefined) return t.skip(fault)
    const created = await run('database', 'create', '--name', 'stock')
    assert.equal(created.status, 0, created.stderr)
    const again = await run('database', 'create', '--name', 'stock')
    assert.deepEqual([again.status, /already exists/.test(again.stderr)], [1, true])
    const bad = await run('database', 'create', '--name', 'not a name')
    assert.deepEqual([bad.status, /invalid|Invalid/.test(bad.stderr)], [1, true])
    assert.match((await run('database', 'list')).stdout, /stock/)
    const deleted = await run('database', 'delete', '--name', 'stock')
    assert.equal(deleted.status, 0, deleted.stderr)
    const gone = await run('database', 'delete', '--name', 'stock')
    assert.deepEqual([gone.status, /not found|does not exist/i.test(gone.stderr)], [1, true])
  })

  test('local: the query that creates a database, or checks its definition', async () => {
    const ensure = (priority: number) => {
      const text = `
        let database = Database.byName("here")
        let wanted = { name: "here", protected: false, typechecked: true, priority: ${priority} }
        if (database == null) Database.create(wanted)
        else if (
          (wanted.protected == null || database!.protected == wanted.protected) &&
          (wanted.typechecked == null || database!.typechecked == wanted.typechecked) &&
          (wanted.priority == null || database!.priority == wanted.priority)
        ) database
        else abort(database)`
      return sendFql(server, server.rootSecret, text, {}, { 'x-format': 'decorated' })
    }
    // On a busy machine, a ping may take longer than its limit of one second.
    const ping = () => send(server, { method: 'GET', path: '/ping' })
    await eventually('the service is ready', async () => (await ping()).status === 200)
    for (let time = 0; time < 2; time++) {
      const { json, status, text } = await ensure(5)
      assert.equal(status, 200, text)
      assert.match((json as { data: string }).data, /^\{\n {2}name: "here",\n {2}coll: Database,\n/)
    }
    const { json, status } = await ensure(6)
    const { error } = json as { error: { code: string; abort: string } }
    assert.deepEqual([status, error.code], [400, 'abort'])
    assert.match(error.abort, /priority: 5/)
  })
})
