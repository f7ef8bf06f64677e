// Every function of the language has an example in the reference, and its result is correct.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { families } from '../../../src/fql4/functions/registry.ts'
import { type ExampleEngine, openExampleEngine } from '../../support/example-engine.ts'

type Definition = (typeof families)[number]['definitions'][number]

async function assertTrue({ engine, secret }: ExampleEngine, { example, until }: Definition): Promise<void> {
  const [query, answer] = example
  const { body } = await engine.send(query, { secret, apiVersion: until ? '2.12' : '4' })
  assert.deepEqual(JSON.parse(body), { resource: JSON.parse(answer) })
}

// Functions that write nothing share one engine, because opening one takes longer than most examples.
let shared: ExampleEngine
before(async () => {
  shared = await openExampleEngine()
})
after(() => shared.engine.close())

for (const family of families) {
  for (const definition of family.definitions) {
    test(`the example of ${definition.name} (${definition.keys.join(', ')})`, async () => {
      if (definition.effect !== 'write') return assertTrue(shared, definition)
      const own = await openExampleEngine()
      try {
        await assertTrue(own, definition)
      } finally {
        await own.engine.close()
      }
    })
  }
}
