// Engines with the database that the examples of the function reference use.

import { after } from 'node:test'
import type { families } from '../../src/fql4/functions/registry.ts'
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

/** A function of version 4, with an example. */
export type FunctionDefinition = (typeof families)[number]['definitions'][number]

export interface ExampleEngine {
  readonly engine: TestEngine
  /** Secret of an admin key of the engine's database. */
  readonly secret: string
}

async function openExampleEngine(): Promise<ExampleEngine> {
  const engine = openTestEngine()
  await engine.query(fixture)
  await engine.query(documents)
  const key = (await engine.query({ create_key: { object: { role: 'admin' } } })) as { secret: string }
  return { engine, secret: key.secret }
}

/**
 * Gives each example that writes an engine of its own; the others share one engine, because opening one takes longer
 * than most examples. Call this at the top of a file: the hook that closes the shared engine belongs to the suite in
 * which it is registered.
 */
export function exampleRunner(): (
  definition: Pick<FunctionDefinition, 'effect'>,
  run: (engine: ExampleEngine) => Promise<void>,
) => Promise<void> {
  let shared: Promise<ExampleEngine> | undefined
  after(async () => (await shared)?.engine.close())
  return async ({ effect }, run) => {
    if (effect !== 'write') {
      shared ??= openExampleEngine()
      return run(await shared)
    }
    const own = await openExampleEngine()
    try {
      await run(own)
    } finally {
      await own.engine.close()
    }
  }
}
