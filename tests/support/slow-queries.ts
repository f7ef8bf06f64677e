// How many queries have been evaluated in the slow lane.

import assert from 'node:assert/strict'
import type { RunningServer } from './server.ts'

/** Reads the metric of a server that was started with a port for metrics. */
export async function slowQueries(server: RunningServer): Promise<number> {
  const url = /"url":"([^"]+)"/.exec(server.stderr())?.[1]
  assert.ok(url, 'the server says where its metrics are')
  const text = await (await fetch(url)).text()
  return Number(/^terrarium_slow_lane_queries_total (\d+)$/m.exec(text)?.[1])
}
