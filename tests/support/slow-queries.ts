// Reads the metrics of the slow lane.

import assert from 'node:assert/strict'
import type { RunningServer } from './server.ts'

/** Returns the number of queries that the slow lane has evaluated. The server must have a port for metrics. */
export function slowQueries(server: RunningServer): Promise<number> {
  return sampleOf(server, 'slow_lane_queries_total')
}

/** Committed by slow-lane processes. */
export function slowCommits(server: RunningServer): Promise<number> {
  return sampleOf(server, 'slow_lane_commits_total')
}

async function sampleOf(server: RunningServer, name: string): Promise<number> {
  const url = /"url":"([^"]+)"/.exec(server.stderr())?.[1]
  assert.ok(url, 'the server says where its metrics are')
  const text = await (await fetch(url)).text()
  return Number(new RegExp(`^terrarium_${name} (\\d+)$`, 'm').exec(text)?.[1])
}
