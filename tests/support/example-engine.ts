// Engines with the database that the examples of the function reference use.

import { after } from 'node:test'
import type { families } from '../../src/fql4/functions/registry.ts'
import { parseExpression } from '../../src/fql4/text/index.ts'
import { writeJson } from '../../src/values/write-json.ts'
import { openTestEngine, type TestEngine } from './engine.ts'

const queries = [
  `[CreateCollection({ name: "spells" }), CreateCollection({ name: "users" }),
    CreateDatabase({ name: "one" }), CreateDatabase({ name: "other" }),
    CreateFunction({ name: "double", body: Query(Lambda("n", Add(Var("n"), Var("n")))) })]`,
  `[CreateIndex({ name: "spells_by_element", source: Collection("spells"),
      terms: { field: ["data", "element"] }, values: [{ field: ["data", "power"] }] }),
    Create(Ref(Collection("spells"), "1"), { data: { element: "fire", power: 10 } }),
    Create(Ref(Collection("users"), "1"), { credentials: { password: "open sesame" } })]`,
]

/** A function of version 4, with an example. */
export type FunctionDefinition = (typeof families)[number]['definitions'][number]

export interface ExampleEngine {
  readonly engine: TestEngine
  /** Secret of an admin key of the engine's database. */
  readonly secret: string
}

async function openExampleEngine(): Promise<ExampleEngine> {
  const engine = openTestEngine()
  for (const query of queries) await engine.query(writeJson(parseExpression(query).json))
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
    await using _ = own.engine
    await run(own)
  }
}
