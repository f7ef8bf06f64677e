// What a process of the slow lane evaluates before it has anything to do: queries that are right, until a job comes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { warmUp } from '../../src/engine/slow-lane/warm-up.ts'
import { openTestEngine } from '../support/engine.ts'

const rootSecret = 'the-root-secret-of-a-test'

test('a process warms up with queries of each language, and stops when there is a job', async () => {
  const { close, engine } = openTestEngine()
  const answers: string[] = []
  const counting: Pick<typeof engine, 'query'> = {
    query: async request => {
      // However long it takes on a busy machine.
      const response = await engine.query({ ...request, timeoutMs: 600_000 })
      answers.push(`${request.language} ${response.status}`)
      return response
    },
  }
  await warmUp(counting, rootSecret, () => answers.length < 5)
  assert.deepEqual(answers, ['4 200', '10 200', '4 200', '10 200', '4 200'])
  await warmUp(counting, undefined, () => true)
  assert.equal(answers.length, 5)
  await close()
})
