// A program without type errors never fails with an error that its types exclude, and its result has the type that the
// response contains. The file runs all programs in one database, because they only read.

import assert from 'node:assert/strict'
import { before } from 'node:test'
import { fql, send } from '../support/http.ts'
import { serverOfFile } from '../support/server.ts'
import { programSchema, programs } from './generators/programs10.ts'
import { sharedLaw } from './law.ts'

const server = serverOfFile()

/** Errors that no program without type errors causes: unbound names, missing methods, access to null, wrong types. */
const excluded: ReadonlySet<string> = new Set([
  'unbound_variable',
  'invalid_null_access',
  'invalid_function_invocation',
  'invalid_argument',
  'type_mismatch',
])

interface Body {
  readonly data?: unknown
  readonly static_type?: string
  readonly error?: { readonly code: string }
  readonly summary: string
}

async function run(query: string, args: object = {}): Promise<Body> {
  const { json } = await send(server, {
    path: '/query/1',
    secret: server.rootSecret,
    body: JSON.stringify({ query, arguments: args }),
    headers: { 'x-typecheck': 'true', 'x-format': 'tagged' },
  })
  return json as Body
}

before(async () => {
  const form = new FormData()
  form.append('main.fsl', new Blob([programSchema]))
  const response = await fetch(`${server.url}/schema/1/update?force=true`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.rootSecret}` },
    body: form,
  })
  assert.equal(response.status, 200, await response.text())
  await fql(
    server,
    server.rootSecret,
    `let ann = User.create({ id: "1", name: "Ann", age: 3, address: { street: "s", zip: 1 } })
    let ben = User.create({ id: "2", name: "Ben", friend: ann, address: { street: "t" } })
    1`,
  )
})

/** The number of programs without type errors that a run must have tried. */
const checkedMin = 150
let checked = 0

sharedLaw('programs without type errors cause no errors that their types exclude, and have their types', {
  input: programs,
  runs: 1000,
  async holds(program) {
    const { data, error, static_type: type, summary } = await run(program)
    if (error?.code === 'invalid_query') return
    checked++
    const code = error?.code ?? 'none'
    // As in the hosted service, the types allow null elements in the projection of an array, which then fails.
    if (code === 'invalid_null_access' && program.includes(') { a: .')) return
    assert.ok(!excluded.has(code), `${program}\n${code}: ${summary}`)
    // Types of functions cannot be checked against values, and sets are read lazily.
    if (error !== undefined || type === undefined || /=>|Set</.test(type)) return
    // The type of an argument that is a boolean is `Boolean`.
    const wider = type.replace(/\b(true|false)\b/g, 'Boolean')
    const fits = await run(`let value: ${wider} = given\n1`, { given: data })
    assert.equal(fits.error, undefined, `${program}\n${JSON.stringify(data)} is no ${type}: ${fits.summary}`)
  },
  atEnd: () => assert.ok(checked >= checkedMin, `${checked} programs had no type error`),
})
