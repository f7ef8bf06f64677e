// Laws of pushes: after any change of any part of any item, the stored text is the pushed text, the definition is the
// definition of a new database with the same files, and a comparison finds no difference.

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { fc } from '../support/fast-check.ts'
import { fql, keyOfNewDatabase } from '../support/http.ts'
import { schemaTexts } from '../support/schema-texts.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()
let admin: string

/** The items that the generated items use. */
const base = `collection D { }
collection E { }
role reader { }
role writer { }
`

before(async () => {
  admin = await keyOfNewDatabase(server, 'laws', 'admin', { typechecked: false })
})

interface Body {
  readonly error?: { readonly message: string }
  readonly content?: string
  readonly diff?: string
}

async function request(
  method: string,
  path: string,
  files?: Readonly<Record<string, string>>,
): Promise<Body> {
  const form = new FormData()
  for (const [name, text] of Object.entries(files ?? {})) form.append(name, new Blob([text]))
  const response = await fetch(`${server.url}/schema/1/${path}`, {
    method,
    headers: { authorization: `Bearer ${admin}` },
    ...(files !== undefined && { body: form }),
  })
  return (await response.json()) as Body
}

async function push(text: string, query = ''): Promise<void> {
  const { error } = await request('POST', `update${query}`, { 'base.fsl': base, 'main.fsl': text })
  assert.equal(error?.message, undefined, text)
}

/** All definitions, without the times of their writes. */
async function definitions(): Promise<unknown> {
  const found = await fql(
    server,
    admin,
    '[Collection.all(), Function.all(), Role.all(), AccessProvider.all()].flatMap(all => all.toArray()).map(d => Object.entries(Object.assign({}, d)))',
  )
  const entries = found as readonly (readonly (readonly [string, unknown])[])[]
  const all = entries
    .map(each => Object.fromEntries(each.filter(([name]) => name !== 'ts')))
    .map(withoutOrder)
  return all.map(each => JSON.stringify(each)).sort()
}

/**
 * A definition in which the order of constraints, privileges, memberships and roles is not significant, and without the
 * wildcard of a collection without fields.
 */
function withoutOrder(definition: Record<string, unknown>): unknown {
  const sorted = (value: unknown) =>
    Array.isArray(value) ? value.map(each => JSON.stringify(each)).sort() : value
  return Object.fromEntries(
    Object.entries(definition)
      .filter(([name]) => name !== 'wildcard' || definition.fields !== undefined)
      .map(([name, value]) => [name, sorted(value)] as const)
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  )
}

const provider = (roles: string) =>
  `access provider p {\n  issuer "https://one.example"\n  jwks_uri "https://one.example/keys"\n${roles}}\n`

/** Changes that failed before, and changes of single parts. */
const examples: Readonly<Record<string, [string, string][]>> = {
  collection: [
    ['collection C { g: (Int | String)? }', 'collection C { g: Int? }'],
    ['collection C {\n  compute z = (doc => doc.a)\n}', 'collection C {\n  compute z = (.b)\n}'],
    ['collection C { }', 'collection C {\n  *: Any\n}'],
    ['collection C {\n  *: Any\n}', 'collection C { }'],
    ['collection C {\n  *: Any\n}', 'collection C {\n  a: Int\n}'],
    ['collection C {\n  *: Any\n}', 'collection C {\n  a: Int\n  *: Any\n}'],
    ['collection C {\n  compute z = doc => doc.a\n}', 'collection C {\n  compute z: Int = doc => doc.a\n}'],
    ['collection C {\n  compute z: Int = (.a)\n}', 'collection C {\n  compute z = (.a)\n}'],
  ],
  function: [
    ['@alias(g)\nfunction f() { 1 }', '@role(server)\nfunction f() { 1 }'],
    ['@role(server)\nfunction f() { 1 }', '@alias(g)\nfunction f() { 1 }'],
    ['function f(): (Int | String)? { 1 }', 'function f(): Int? { 1 }'],
    ['function f(doc) { doc { a } }', 'function f(doc) { doc { a: .a } }'],
  ],
  'access provider': [[provider('  role reader\n'), provider('')]],
}

for (const [kind, text] of Object.entries(schemaTexts)) {
  test(`${kind}: a push stores its text, and the definition has the same meaning`, async () => {
    await fc.assert(
      fc.asyncProperty(text, text, async (one, other) => {
        await push(other)
        const expected = await definitions()
        await push('')
        await push(one)
        await push(other)
        const context = `${one}\n${other}`
        assert.equal((await request('GET', 'files/main.fsl')).content, other, context)
        assert.deepEqual(await definitions(), expected, context)
        const { diff } = await request('POST', 'diff', { 'base.fsl': base, 'main.fsl': other })
        assert.equal(diff, '', context)
      }),
      { numRuns: 12, examples: examples[kind] ?? [] },
    )
  })
}

test('a replace without roles removes the roles of an access provider, and fails without the other fields', async () => {
  await push(provider('  role reader\n  role writer\n'))
  const replaced = await fql(
    server,
    admin,
    `let fields = AccessProvider.byName("p")! { name, issuer, jwks_uri }
     AccessProvider.byName("p")!.replace(fields) { issuer, roles }`,
  )
  assert.deepEqual(replaced, { issuer: 'https://one.example', roles: null })
  assert.equal((await request('GET', 'files/main.fsl')).content, provider(''))
  await assert.rejects(
    () => fql(server, admin, 'AccessProvider.byName("p")!.replace({ name: "p" })'),
    /Missing required field of type String/,
  )
})

test('generated texts have the fields of a projection without colons', async () => {
  await push('')
  const body = 'doc => doc { a, b: .c, d: .d, e { f } }'
  await fql(server, admin, 'Function.create({ name: "f", body: body })', { body })
  const { content } = await request('GET', 'files/main.fsl')
  const lines = ['doc {', '  a,', '  b: .c,', '  d: .d,', '  e {', '    f,', '  },', '}']
  const expected = `function f(doc) {\n${lines.map(line => `  ${line}\n`).join('')}}\n`
  assert.equal(content?.slice(content.indexOf('function')), expected)
})

test('the comparison of the staged files with themselves is empty', async () => {
  const one = 'collection C {\n  a: Int\n}\n'
  const other = 'collection C {\n  a: Int\n  b: Int?\n  migrations {\n    add .b\n  }\n}\n'
  await push(one)
  await fql(server, admin, 'C.create({ a: 1 })')
  await push(other, '?staged=true')
  for (const form of ['semantic', 'summary', 'textual']) {
    const files = { 'base.fsl': base, 'main.fsl': other }
    const { diff } = await request('POST', `diff?staged=true&diff=${form}`, files)
    assert.equal(diff, '', form)
  }
  const changed = { 'base.fsl': base, 'main.fsl': other.replace('b: Int?', 'b: Int? | String') }
  const { diff } = await request('POST', 'diff?staged=true&diff=summary', changed)
  assert.equal(diff, '* Modifying collection `C` at main.fsl:1:1\n')
  await request('POST', 'staged/abandon', {})
})
