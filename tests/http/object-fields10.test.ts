// The type `Object` of a field means `{ *: Any }` to the type checker, too: its values have any fields, and null tests
// and the types of new documents are checked.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fql, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()

const schema = `collection Box {
  meta: Object
  extra: Object?
  tag: String | Object
  list: Array<Object> = []
  part: Object = { size: 1 }
  compute copy: Object = (box => box.meta)
  index byColour {
    terms [.meta.colour, .copy.colour]
    values [.part.size]
  }
  unique [.meta.colour]
  check hasColour (box => box.meta.colour != null)
}
function colourOf(id: ID): Any { Box.byId(id)!.meta.colour }
`

async function push(secret: string, text: string) {
  const body = new FormData()
  body.append('main.fsl', new Blob([text]))
  const headers = { authorization: `Bearer ${secret}` }
  return fetch(`${server.url}/schema/1/update?force=true`, { method: 'POST', headers, body })
}

async function checkedDatabase(name: string): Promise<string> {
  await fql(server, server.rootSecret, `Database.create({ name: "${name}", typechecked: true }).name`)
  return `${server.rootSecret}:${name}:admin`
}

interface Checked {
  readonly static_type?: string
  readonly summary: string
}

test('a field of type Object has the static type of an object with any fields', async () => {
  const secret = await checkedDatabase('boxes')
  const pushed = await push(secret, schema)
  assert.equal(pushed.status, 200, await pushed.text())
  const ask = async (text: string) => {
    const body = JSON.stringify({ query: text })
    const { json } = await send(server, { path: '/query/1', secret, body })
    const { static_type, summary } = json as Checked
    return static_type ?? summary.split('\n').slice(0, 2).join(' ')
  }
  const create = 'Box.create({ id: 1, tag: { a: 1 }, meta: { colour: { dark: "red" } } })'
  assert.equal(await ask(create), 'Box')
  assert.equal(await ask('Box(1)!.meta'), '{ *: Any }')
  assert.equal(await ask('Box(1)!.copy'), '{ *: Any }')
  assert.equal(await ask('Box(1)!.extra'), '{ *: Any } | Null')
  assert.equal(await ask('Box(1)!.list'), 'Array<{ *: Any }>')
  assert.equal(await ask('Box(1)!.meta.colour.dark'), 'Any')
  assert.equal(await ask('Object.keys(Box(1)!.meta)'), 'Array<String>')
  assert.equal(await ask('Box(1)!.update({ meta: { size: 2 }, extra: Box(1)!.part })'), 'Box')
  assert.equal(await ask('colourOf(1)'), 'Any')
  assert.equal(await ask('Box.byColour("red", "red").toArray()'), 'Array<Box>')
  const noField = 'error: Type `Null` does not have field `colour` at *query*:1:15'
  assert.equal(await ask('Box(1)!.extra.colour'), noField)
  assert.match(await ask('Box.create({ meta: 1, tag: "a" })'), /^error: Type `Int` is not a subtype of `/)
})

test('a default of another type and an argument of the type Object are rejected', async () => {
  const secret = await checkedDatabase('faulty')
  const badDefault = await push(secret, 'collection Box {\n  meta: Object = 1\n}\n')
  assert.equal(badDefault.status, 400)
  assert.match(await badDefault.text(), /Type `Int` is not a subtype of `\{ \*: Any \}`/)
  const withParameter = await push(secret, 'collection Box {\n  meta: Object<Int>\n}\n')
  assert.match(await withParameter.text(), /Type `Object` does not accept any parameters\./)
})
