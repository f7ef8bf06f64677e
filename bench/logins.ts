// Logins that keep every core busy must not make other queries slow: the same moderate load of point reads, alone and
// beside clients that do nothing but log in.

import { query } from '../tests/support/http.ts'
import type { RunningServer } from '../tests/support/server.ts'
import { type LoadResult, measure, post } from './measure.ts'

export interface LoginsResult {
  readonly alone: LoadResult
  readonly beside: LoadResult
  readonly logins: LoadResult
}

/** Users that log in at the same time, each on a connection of their own. */
const users = 16
/** Connections that read: few, so that their latency is that of a service with room to spare. */
const readers = 4

/** Measures reads of one document alone and beside logins, on a server with the schema of the bench. */
export async function measureLogins(
  server: RunningServer,
  secret: string,
  seconds: number,
): Promise<LoginsResult> {
  const port = Number(new URL(server.url).port)
  const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' }
  await query(server, secret, { create_collection: { object: { name: 'bench_users' } } })
  const user = (id: number) => ({ ref: { collection: 'bench_users' }, id: String(id) })
  const password = (id: number) => `the password of ${id}`
  const ids = Array.from({ length: users }, (_, id) => id + 1)
  for (const id of ids) {
    const params = { object: { credentials: { object: { password: password(id) } } } }
    await query(server, secret, { create: user(id), params })
  }
  // Wrong passwords are what costs a check each time: right ones are remembered.
  const logins = ids.map(id => post('/', { identify: user(id), password: `not ${password(id)}` }, headers))
  const reads = [post('/', { get: user(1) }, headers)]
  const load = (requests: readonly string[], connections: number) =>
    measure({ port, requests, connections, seconds, warmupSeconds: 1 })
  const alone = await load(reads, readers)
  const [beside, loggedIn] = await Promise.all([load(reads, readers), load(logins, users)])
  return { alone, beside, logins: loggedIn }
}
