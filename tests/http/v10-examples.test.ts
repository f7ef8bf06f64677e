// The examples of version 10 that need a database, each in the order of its table.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dataTables } from '../../src/fql10/library/tables.ts'
import { serverOfFile } from '../support/server.ts'

const server = serverOfFile()

interface Answer {
  readonly data?: unknown
  readonly error?: { readonly abort?: string }
  readonly summary: string
}

async function ask(query: string): Promise<Answer> {
  const response = await fetch(`${server.url}/query/1`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.rootSecret}`, 'x-format': 'decorated' },
    body: JSON.stringify({ query }),
  })
  return response.json() as Promise<Answer>
}

const fixture = [
  'Collection.create({ name: "Author" })',
  'Function.create({ name: "shout", body: "text => text.toUpperCase()" })',
  'Author.create({ id: 1, name: "Ann" })',
  'Author.create({ id: 2, name: "Bea" })',
  'Credential.create({ document: Author.byId(1), password: "sesame" })',
]

test('the examples with a database have the documented results', async () => {
  for (const query of fixture) {
    const { data, summary } = await ask(query)
    assert.ok(data !== undefined, `${query}\n${summary}`)
  }
  for (const { apply, entries } of dataTables) {
    const all = [...entries.values(), ...(apply === undefined ? [] : [apply])]
    for (const { example } of all) {
      const [query, result] = example
      if (result === '…') continue
      // Aborted, so that each example finds the same state.
      const { error, summary } = await ask(`abort({ ${query} })`)
      assert.equal(error?.abort, result, `${query}\n${summary}`)
    }
  }
})
