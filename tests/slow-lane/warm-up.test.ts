// The warm-up of a slow-lane process: it evaluates valid queries until the first job arrives.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { warmUp } from '../../src/engine/slow-lane/warm-up.ts'
import { openTestEngine } from '../support/engine.ts'

const rootSecret = 'the-root-secret-of-a-test'

test('a process warms up with queries of each language, and stops when a job arrives', async () => {
  await using opened = openTestEngine()
  const { engine } = opened
  const answers: string[] = []
  const counting: Pick<typeof engine, 'query'> = {
    query: async request => {
      // On a busy machine, a query may take long.
      const response = await engine.query({ ...request, timeoutMs: 600_000 }, undefined)
      answers.push(`${request.language} ${response.status}`)
      return response
    },
  }
  await warmUp(counting, rootSecret, () => answers.length < 5)
  assert.deepEqual(answers, ['4 200', '10 200', '4 200', '10 200', '4 200'])
  await warmUp(counting, undefined, () => true)
  assert.equal(answers.length, 5)
})
