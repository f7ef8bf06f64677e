// The times of queries that one client runs one after the other, alternating between workers and between reads and
// writes, all in the slow lane.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runText } from '../support/http.ts'
import { startProcess } from '../support/server-process.ts'

test('the time of a query is not before the times of earlier queries of the client', async () => {
  await using server = await startProcess({ flags: ['--workers', '2', '--slow-lane-after-ms', '0'] })
  const run = (text: string) => runText(server, server.rootSecret, text)
  await run('CreateCollection({ name: "c" })')
  let latest = 0
  for (let round = 0; round < 20; round++) {
    for (const text of ['ToMicros(Now())', 'Select(1, [Create(Collection("c"), {}), ToMicros(Now())])']) {
      const time = (await run(text)) as number
      assert.ok(time >= latest, `${text}: ${latest - time} µs before the previous query`)
      latest = time
    }
  }
})
