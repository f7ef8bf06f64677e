// Every function of the language has an example in the reference, and the example is true.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { families } from '../../../src/query/functions/registry.ts'
import { openTestEngine } from '../../support/engine.ts'

/** What the examples take for granted. */
const fixture = {
  do: [
    { create_collection: { object: { name: 'spells' } } },
    { create_collection: { object: { name: 'users' } } },
    { create_database: { object: { name: 'one' } } },
    { create_database: { object: { name: 'other' } } },
    {
      create_function: {
        object: {
          name: 'double',
          body: { query: { lambda: 'n', expr: { add: [{ var: 'n' }, { var: 'n' }] } } },
        },
      },
    },
  ],
}
const documents = {
  do: [
    {
      create_index: {
        object: {
          name: 'spells_by_element',
          source: { collection: 'spells' },
          terms: { object: { field: ['data', 'element'] } },
          values: [{ object: { field: ['data', 'power'] } }],
        },
      },
    },
    {
      create: { ref: { collection: 'spells' }, id: '1' },
      params: { object: { data: { object: { element: 'fire', power: 10 } } } },
    },
    {
      create: { ref: { collection: 'users' }, id: '1' },
      params: { object: { credentials: { object: { password: 'open sesame' } } } },
    },
  ],
}

for (const family of families) {
  for (const definition of family.definitions) {
    test(`the example of ${definition.name} (${definition.keys.join(', ')})`, async () => {
      const engine = openTestEngine()
      try {
        await engine.query(fixture)
        await engine.query(documents)
        const key = (await engine.query({ create_key: { object: { role: 'admin' } } })) as { secret: string }
        const [query, answer] = definition.example
        const { body } = await engine.send(query, {
          secret: key.secret,
          apiVersion: definition.until ? '2.12' : '4',
        })
        assert.deepEqual(JSON.parse(body), { resource: JSON.parse(answer) })
      } finally {
        await engine.close()
      }
    })
  }
}
