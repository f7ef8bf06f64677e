// Every function of the language has an example in the reference, and the example is true.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { families } from '../../../src/v4/functions/registry.ts'
import { openExampleEngine } from '../../support/example-engine.ts'

for (const family of families) {
  for (const definition of family.definitions) {
    test(`the example of ${definition.name} (${definition.keys.join(', ')})`, async () => {
      const { engine, secret } = await openExampleEngine()
      try {
        const [query, answer] = definition.example
        const { body } = await engine.send(query, {
          secret,
          apiVersion: definition.until ? '2.12' : '4',
        })
        assert.deepEqual(JSON.parse(body), { resource: JSON.parse(answer) })
      } finally {
        await engine.close()
      }
    })
  }
}
