// Default values of fields must have the types of their fields, also in databases that do not check types.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fql, keyOfNewDatabase, query, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()

test('a default value of another type is rejected in a database without type checks', async () => {
  const secret = await keyOfNewDatabase(server, 'defaults', 'admin')
  const validate = async (text: string) => {
    const form = new FormData()
    form.append('main.fsl', new Blob([text]))
    const headers = { authorization: `Bearer ${secret}`, 'x-typecheck': 'false' }
    const url = `${server.url}/schema/1/validate`
    const response = await fetch(url, { method: 'POST', headers, body: form })
    const { error } = (await response.json()) as { error?: { message: string } }
    return error?.message.split('\n').slice(0, 2).join(' ')
  }
  const rejected = {
    'a: String = 0': 'error: Type `Int` is not a subtype of `String` at main.fsl:1:28',
    'a: { b: String = 0 }': 'error: Type `Int` is not a subtype of `String` at main.fsl:1:33',
    'a: Time = "x"': 'error: Type `String` is not a subtype of `Time` at main.fsl:1:26',
    'a: Int = Time.now()': 'error: Type `Time` is not a subtype of `Int` at main.fsl:1:25',
  }
  for (const [field, message] of Object.entries(rejected))
    assert.equal(await validate(`collection A { ${field} }`), message)
  for (const field of ['a: String = "x"', 'a: Int = 1 + 2', 'a: Time = Time.now()', 'a: Ref<A>? = null'])
    assert.equal(await validate(`collection A { ${field} }`), undefined, field)
  const definition = '{ name: "B", fields: { a: { signature: "String", default: "0" } } }'
  const { json } = await sendFql(server, secret, `Collection.create(${definition})`)
  assert.equal((json as { error?: { code: string } }).error?.code, 'invalid_schema')
})

test('a collection of version 4 whose name is no identifier does not prevent writes of the schema', async () => {
  const secret = await keyOfNewDatabase(server, 'names', 'admin')
  const name = 'x$_+collection.~%22;@!'
  await query(server, secret, { create_collection: { object: { name } } })
  await fql(
    server,
    secret,
    'Collection.create({ name: "B", fields: { a: { signature: "Int", default: "0" } } })',
  )
  const headers = { 'x-typecheck': 'true' }
  const { json } = await sendFql(
    server,
    secret,
    'Collection("x$_+collection.~%22;@!").all().count()',
    {},
    headers,
  )
  assert.equal((json as { data?: number }).data, 0)
})
