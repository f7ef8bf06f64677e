// Long documents of GraphQL are parsed and validated in the slow lane until it has found them valid in a short time.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { importSchema, runOperation } from '../support/graphql.ts'
import { keyOfNewDatabase } from '../support/http.ts'
import { startProcess } from '../support/server-process.ts'
import { slowQueries } from '../support/slow-queries.ts'

test('a long invalid document never runs in the service, a valid one only the first time', async () => {
  await using server = await startProcess({ flags: ['--metrics-port', '0'] })
  const secret = await keyOfNewDatabase(server, 'long', 'admin')
  await importSchema(
    server,
    secret,
    'type Thing { name: String } type Query { things(name: String): [Thing!] }',
  )
  const document = (field: string) =>
    `query($name: String) { things(name: $name) { data { ${`... on Thing { ${field} } `.repeat(98)} } } }`
  let sent = 0
  /** Sends a document with other variables each time. Returns whether it has run in the slow lane. */
  const isSlow = async (text: string, isValid: boolean) => {
    const before = await slowQueries(server)
    const { errors } = await runOperation(server, secret, text, { name: `n${sent++}` })
    assert.equal(errors === undefined, isValid, JSON.stringify(errors))
    return (await slowQueries(server)) > before
  }
  for (let time = 0; time < 4; time++) assert.ok(await isSlow(document('nothing'), false))
  assert.ok(await isSlow(document('name'), true))
  // The first validation in a process takes longer than later ones, because its code is not compiled yet.
  let version = 0
  await eventually('a valid document runs in the service', async () => {
    const text = `# ${version++}\n${document('name')}`
    await isSlow(text, true)
    return !(await isSlow(text, true))
  })
})
