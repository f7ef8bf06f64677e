// Every function of the language has an example in the reference, and its result is correct.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { families } from '../../../src/fql4/functions/registry.ts'
import { exampleRunner } from '../../support/example-engine.ts'

const runExample = exampleRunner()

for (const family of families) {
  for (const definition of family.definitions) {
    const { example, keys, name, until } = definition
    test(`the example of ${name} (${keys.join(', ')})`, () =>
      runExample(definition, async ({ engine, secret }) => {
        const [query, answer] = example
        const { body } = await engine.send(query, { secret, apiVersion: until ? '2.12' : '4' })
        assert.deepEqual(JSON.parse(body), { resource: JSON.parse(answer) })
      }))
  }
}
