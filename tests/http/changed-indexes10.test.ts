// Cursors and event sources contain the call of an index function. The call is evaluated again: if the index was changed
// or removed, the next page and the feed fail with the error of the call.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { fql, keyOfNewDatabase, send, sendFql } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let admin: string
let collections = 0

before(async () => {
  admin = await keyOfNewDatabase(server, 'indexes', 'admin', { typechecked: false })
})

interface Page {
  readonly data: readonly unknown[]
  readonly after?: string
}

const documents = 150

/** Creates a collection with documents, and returns its name. */
async function newCollection(): Promise<string> {
  const name = `P${++collections}`
  await fql(
    server,
    admin,
    `Collection.create({
      name: "${name}",
      indexes: {
        byG: { terms: [{ field: "g" }], values: [{ field: "a" }] },
        byA: { values: [{ field: "a" }] }
      }
    })`,
  )
  await fql(
    server,
    admin,
    `Set.sequence(0, ${documents}).forEach(n => ${name}.create({ g: "x", a: n, b: -n, h: "x" }))`,
  )
  return name
}

/** The result of a query: `code: message` of an error, or the data. */
async function outcome(text: string, args: Record<string, unknown> = {}): Promise<unknown> {
  const { json } = await sendFql(server, admin, text, args)
  const { data, error } = json as { data?: unknown; error?: { code: string; message: string } }
  return error === undefined ? data : `${error.code}: ${error.message}`
}

async function feedError(token: unknown): Promise<string | undefined> {
  const { json } = await send(server, { secret: admin, path: '/feed/1', body: JSON.stringify({ token }) })
  return (json as { error?: { message: string } }).error?.message
}

async function untilBuilt(name: string): Promise<void> {
  const count = () => outcome(`${name}.byG("x").count()`)
  await eventually('the index is built', async () => typeof (await count()) === 'number')
}

const set = (definition: string) => (name: string) =>
  `${name}.definition.update({ indexes: { ${definition} } })`

/** Changes after which the call of the index function fails. */
const breaking: Readonly<
  Record<string, { change: (name: string) => string; error: (name: string) => string }>
> = {
  'the index is removed': {
    change: set('byG: null'),
    error: name => `invalid_function_invocation: The function \`byG\` does not exist on \`${name}\``,
  },
  'the index is renamed': {
    change: set('byG: null, byH: { terms: [{ field: "g" }], values: [{ field: "a" }] }'),
    error: name => `invalid_function_invocation: The function \`byG\` does not exist on \`${name}\``,
  },
  'the index gets another term': {
    change: set('byG: { terms: [{ field: "g" }, { field: "h" }] }'),
    error: () => 'invalid_function_invocation: callee function expects 2 or 3 arguments, but 1 was provided.',
  },
  'the index is no longer queryable': {
    change: set('byG: { queryable: false }'),
    error: name => `invalid_index_invocation: The index \`${name}.byG\` is not queryable.`,
  },
}

for (const [title, { change, error }] of Object.entries(breaking)) {
  test(`${title}: pages and feeds fail with the error of the call`, async () => {
    const name = await newCollection()
    const texts = [
      `${name}.byG("x").map(.a)`,
      `${name}.byG("x").where(.b <= 0).map(.a)`,
      `${name}.byG("x").reverse()`,
      `${name}.byG("x", { from: 10 }).map(.a)`,
      `${name}.byA().flatMap(p => [p.a].toSet()).concat(${name}.byG("x"))`,
    ]
    const first = (await fql(
      server,
      admin,
      `[${texts.map(text => `(${text}).paginate(5)`).join(', ')}]`,
    )) as Page[]
    const sources = await Promise.all(
      ['.eventSource()', '.eventsOn(.a)', '.where(.a > 1).map(.b).eventSource()'].map(suffix =>
        fql(server, admin, `${name}.byG("x")${suffix}`),
      ),
    )
    await fql(server, admin, change(name))
    assert.equal(await outcome(`${name}.byG("x")`), error(name))
    for (const { after } of first) {
      assert.equal(await outcome('Set.paginate(after)', { after }), error(name))
      assert.equal(await outcome('Set.paginate(after, 16000)', { after }), error(name))
    }
    const message = error(name).replace(/^\w+: /, '')
    for (const token of sources) {
      assert.equal(await feedError(token), `Error evaluating provided event source, ${message}`)
    }
  })
}

test('an index with other values: the call fails until it is built, then the position is invalid', async () => {
  const name = await newCollection()
  const cursorOf = async (text: string) => ((await fql(server, admin, text)) as Page).after as string
  const after = await cursorOf(`${name}.byG("x").map(.a).pageSize(5)`)
  const inRange = await cursorOf(`${name}.byG("x", { from: 10 }).map(.a).pageSize(5)`)
  const source = await fql(server, admin, `${name}.byG("x").eventsOn(.a)`)
  const change = set('byG: { values: [{ field: "b" }] }')(name)
  const building = `invalid_index_invocation: The index \`${name}.byG\` is not queryable.`
  assert.equal(await outcome(`${change}; ${name}.byG("x").count()`), building)
  for (const cursor of [after, inRange]) {
    assert.equal(await outcome(`${change}; Set.paginate(after, 16000)`, { after: cursor }), building)
  }
  await fql(server, admin, change)
  await untilBuilt(name)
  for (const cursor of [after, inRange]) {
    const resumed = await outcome('Set.paginate(after, 16000)', { after: cursor })
    assert.equal(resumed, 'invalid_cursor: Cursor cursor is invalid or expired.')
  }
  assert.equal(
    await feedError(source),
    'Error evaluating provided event source, invalid argument `fields`: `a` not covered by the `byG` index.',
  )
})

test('an index that is rebuilt with the same terms and values: the pages go on', async () => {
  const name = await newCollection()
  const { after, data } = (await fql(server, admin, `${name}.byG("x").map(.a).pageSize(5)`)) as Page
  await fql(server, admin, set('byG: null')(name))
  const again = 'byG: { terms: [{ field: "g" }], values: [{ field: "a" }] }'
  await fql(server, admin, set(again)(name))
  await untilBuilt(name)
  const rest = (await outcome('Set.paginate(after, 16000)', { after })) as Page
  const all = Array.from({ length: documents }, (_, n) => n)
  assert.deepEqual([...data, ...rest.data], all)
})
