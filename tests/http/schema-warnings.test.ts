// Warnings of the endpoints that compare and stage schema files: indexes and constraints over fields without values, and
// constraints that existing documents may violate. The suggested queries are run.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fql, keyOfNewDatabase } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let databases = 0

function newDatabase(): Promise<string> {
  databases += 1
  return keyOfNewDatabase(server, `d${databases}`, 'admin')
}

async function post(secret: string, path: string, text: string): Promise<string> {
  const body = new FormData()
  body.append('main.fsl', new Blob([text]))
  const response = await fetch(`${server.url}/schema/1/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}` },
    body,
  })
  const answer = (await response.json()) as { diff?: string }
  assert.equal(response.status, 200, JSON.stringify(answer))
  return answer.diff ?? ''
}

/** The warnings at the end of a diff, one text each. */
function warningsIn(diff: string): readonly string[] {
  const [, text] = diff.split('* Warnings:\n')
  return (text ?? '')
    .split(/^ {2}! /m)
    .slice(1)
    .map(each => each.trimEnd())
}

const warningsOf = async (secret: string, text: string, path = 'diff') =>
  warningsIn(await post(secret, path, text))

const functions = 'function one(_) { 1 }\ncollection Other { name: String }\n'

/** A collection whose computed field `z` is in an index. */
const indexed = (body: string) =>
  `${functions}collection C {
  n: Int
  other: Ref<Other>?
  compute y = doc => doc.n
  compute z = ${body}
  index byZ { terms [.z] }
}`

for (const [body, what] of [
  ['doc => doc.y + 1', 'use computed fields (main.fsl:7:26)'],
  ['doc => one(doc.n)', 'call UDFs (main.fsl:7:22)'],
  ['doc => Other.all().count()', 'access collections (main.fsl:7:22)'],
  ['doc => doc.ts', "use a doc's ts field (main.fsl:7:26)"],
  ['doc => doc.other!.name', 'read other documents (main.fsl:7:33)'],
  ['doc => doc.other!.coll.toString()', 'read other documents (main.fsl:7:33)'],
  ['_ => Time.now()', 'use the current time (main.fsl:7:20)'],
  ['_ => newId().toString()', 'create ids (main.fsl:7:20)'],
]) {
  test(`a computed field in an index, ${body}`, async () => {
    const secret = await newDatabase()
    const warning = `\`.z\` has no value in \`index byZ\` of \`C\`: computed fields in indexes and constraints cannot ${what}`
    assert.deepEqual(await warningsOf(secret, indexed(body ?? '')), [warning])
    await post(secret, 'update', indexed(body ?? ''))
    await fql(server, secret, 'C.create({ n: 1, other: Other(Other.create({ name: "a" }).id) })')
    assert.equal(await fql(server, secret, 'C.byZ(C.all().first()!.z).count()'), 0)
  })
}

test('computed fields that an index can contain, and definitions that no index uses', async () => {
  const secret = await newDatabase()
  for (const body of ['doc => doc.n + 1', 'doc => doc.other', 'doc => doc.other!.id.toString()', '(.n)'])
    assert.deepEqual(await warningsOf(secret, indexed(body)), [], body)
  assert.deepEqual(await warningsOf(secret, 'collection C { compute y = (.a)\n compute z = (.y) }'), [])
})

test('paths to fields that documents cannot have', async () => {
  const secret = await newDatabase()
  const fields = `email: String
  address: { city: String? }?
  tags: Array<String>
  lines: Array<{ sku: String }>
  other: Ref<Other>?
  open: { a: Int, *: Any }
  either: { b: Int } | String`
  const definition = (paths: readonly string[]) =>
    `${functions}collection C {\n  ${fields}\n${paths.map(each => `  unique [${each}]\n`).join('')}}`
  const good = [
    '.email',
    '.data.email',
    '.address.city',
    'mva(.tags)',
    '.tags[0]',
    'mva(.lines.sku)',
    '.open.z',
    '.either.b',
  ]
  assert.deepEqual(await warningsOf(secret, definition(good)), [])
  const bad = [
    '.emial',
    '.data.emial',
    '.address.street',
    '.email.length',
    '.lines.sku',
    '.other.id',
    '.either.c',
  ]
  const spelled = (await warningsOf(secret, definition(bad))).map(each => each.split('`')[1])
  assert.deepEqual(spelled, bad)
  const open = 'collection C { unique [.emial]; index byA { terms [.a]; values [.b.c] } }'
  const wild = 'collection C { email: String\n *: Any\n unique [.emial] }'
  for (const text of [open, wild]) assert.deepEqual(await warningsOf(secret, text), [])
})

test('the warning names the collection, the constraint and the position, in each form and for staged schemas', async () => {
  const secret = await newDatabase()
  const text = 'collection C {\n  email: String\n  unique [.email, .emial]\n}'
  const expected =
    '`.emial` has no value in `unique [.email, .emial]` of `C`: no document can have this field (main.fsl:3:19)'
  assert.deepEqual(await warningsOf(secret, text, 'diff?format=summary'), [expected])
  const colored = await post(secret, 'diff?color=ansi', text)
  assert.ok(colored.includes('\n  \u001b[33m! `.emial` has no value'), colored)
  assert.deepEqual(await warningsOf(secret, text, 'diff?format=textual'), [])
  await post(secret, 'update?staged=true', text)
  const status = await fetch(`${server.url}/schema/1/status?format=semantic`, {
    headers: { authorization: `Bearer ${secret}` },
  })
  assert.deepEqual(warningsIn(((await status.json()) as { diff: string }).diff), [expected])
  assert.equal(await post(secret, 'diff?staged=true', text), '')
})

test('a push warns only about the collections that it changes', async () => {
  const secret = await newDatabase()
  const text = 'collection C {\n  a: Int\n  unique [.b]\n}'
  await post(secret, 'update', text)
  assert.equal(await post(secret, 'diff', text), '')
  assert.deepEqual(await warningsOf(secret, `${text}\ncollection D { a: Int }`), [])
})

// ------------------------------------------------------------------------------------------- existing documents

const plain = 'collection C {\n  a: Int?\n  b: { c: Int? }?\n  tags: Array<String>?\n'

/** The query of the only warning. */
function queryIn(warnings: readonly string[]): string {
  assert.equal(warnings.length, 1)
  const [first, ...lines] = (warnings[0] ?? '').split('\n')
  assert.match(first ?? '', /^existing documents of `C` are not checked for `/)
  return lines.map(line => line.trim()).join('\n')
}

test('added constraints of a collection with documents, with a query that lists the violations', async () => {
  const secret = await newDatabase()
  const old = `${plain}}`
  await post(secret, 'update', old)
  const added = `${plain}  unique [.a]\n  check big (.a > 0)\n}`
  assert.deepEqual(await warningsOf(secret, added), [], 'there are no documents')
  await fql(
    server,
    secret,
    `C.create({ id: 1, a: 1, tags: ["x"] }); C.create({ id: 2, a: 1, b: { c: 5 }, tags: ["y", "x"] })
     C.create({ id: 3, a: 0, b: { c: 5 } }); C.create({ id: 4, a: -1, b: {}, tags: ["z"] })
     C.create({ id: 5, a: 1, b: { c: 6 }, tags: [] }); C.create({ id: 6 })`,
  )
  const violations = async (constraint: string) => {
    const query = queryIn(await warningsOf(secret, `${plain}  ${constraint}\n}`))
    const statements = query.split('\n')
    const last = statements.pop()
    return fql(server, secret, [...statements, `(${last}).map(.id).toArray()`].join('\n'))
  }
  const ids = async (constraint: string) => JSON.stringify(await violations(constraint)).match(/\d+/g)
  assert.deepEqual(await ids('unique [.a]'), ['1', '2', '5'])
  assert.deepEqual(await ids('unique [.b.c]'), ['2', '3'])
  assert.deepEqual(await ids('unique [.a, .b.c]'), null)
  assert.deepEqual(await ids('unique [mva(.tags)]'), ['1', '2'])
  assert.deepEqual(await ids('unique [.data.a, mva(.tags)]'), ['1', '2'])
  assert.deepEqual(await ids('unique [.tags[0]]'), null)
  assert.deepEqual(await ids('check positive (.a > 0)'), ['3', '4', '6'])
  assert.deepEqual(await ids('check several ((doc) => {\n    let a = doc.a\n    a == 1\n  })'), [
    '3',
    '4',
    '6',
  ])
})

test('the query about a unique constraint uses an index over the same fields', async () => {
  const secret = await newDatabase()
  const old = `${plain}  index byB { terms [.b.c, .a] }\n  index byA { terms [.a] }\n}`
  await post(secret, 'update', old)
  await fql(server, secret, '[1, 2, 2, 3].forEach(a => C.create({ a: a }))')
  const query = queryIn(await warningsOf(secret, old.replace('index byB', 'unique [.a]\n  index byB')))
  assert.equal(query, 'C.where(doc => doc.a != null && C.byA(doc.a).take(2).count() > 1)')
  assert.equal(await fql(server, secret, `(${query}).count()`), 2)
})

test('changed and kept constraints', async () => {
  const secret = await newDatabase()
  const kept = `${plain}  unique [.a]\n  check one (.a != 1)\n}`
  await post(secret, 'update', kept)
  await fql(server, secret, 'C.create({ a: 5 }).id')
  assert.deepEqual(await warningsOf(secret, kept.replace('Int?', 'Int? = 3')), [])
  const changed = kept.replace('!= 1', '> 6')
  assert.match(queryIn(await warningsOf(secret, changed)), /^let check = \(\.a > 6\)\nC\.where\(/)
})
