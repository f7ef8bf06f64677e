// An engine with the database that the examples of the function reference use.

import { openTestEngine, type TestEngine } from './engine.ts'

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

export interface ExampleEngine {
  readonly engine: TestEngine
  /** The secret of an admin key of the engine's database. */
  readonly secret: string
}

/** Opens an engine with the documents that the examples use. The caller closes it. */
export async function openExampleEngine(): Promise<ExampleEngine> {
  const engine = openTestEngine()
  await engine.query(fixture)
  await engine.query(documents)
  const key = (await engine.query({ create_key: { object: { role: 'admin' } } })) as { secret: string }
  return { engine, secret: key.secret }
}
