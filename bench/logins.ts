// The case `logins`: logins that keep every core busy must not slow down other queries. Runs the same moderate load of
// point reads, first alone and then while other clients only log in.

import { availableParallelism } from 'node:os'
import bcrypt from 'bcrypt'
import { query } from '../tests/support/http.ts'
import type { ServerProcess } from '../tests/support/server-process.ts'
import { type LoadResult, measure, post } from './measure.ts'

export interface LoginsResult {
  readonly alone: LoadResult
  readonly beside: LoadResult
  readonly logins: LoadResult
  /** Password checks without other load. */
  readonly loginsAlone: LoadResult
  /** Checks per second of the bcrypt package itself at the same cost, on all cores. */
  readonly rawPerSecond: number
}

/** Number of clients that log in at the same time, each with a connection of its own. */
const users = 16
/** The default bcrypt cost of a service; test servers have a lower one. */
export const passwordCost = 10
/** Number of user names. There are so many that no name is tried often enough to be throttled. */
const names = 4000
/** Number of connections that read: few, so that the service has capacity to spare. */
const readers = 4

/** Measures reads of a document alone and beside logins, on a server with the schema of the benchmark. */
export async function measureLogins(
  server: ServerProcess,
  secret: string,
  seconds: number,
): Promise<LoginsResult> {
  const port = Number(new URL(server.url).port)
  const headers = { authorization: `Bearer ${secret}`, 'x-faunadb-api-version': '4' }
  await query(server, secret, { create_collection: { object: { name: 'bench_users' } } })
  const user = (id: number) => ({ ref: { collection: 'bench_users' }, id: String(id) })
  await query(server, secret, { create: user(1) })
  // The logins use wrong passwords, because each wrong password costs a check, whether or not the user exists. Correct
  // passwords are cached.
  const logins = Array.from({ length: names }, (_, id) =>
    post('/', { identify: user(id + 1), password: 'wrong' }, headers),
  )
  const reads = [post('/', { get: user(1) }, headers)]
  const load = (requests: readonly string[], connections: number) =>
    measure({ port, requests, connections, seconds, warmupSeconds: 1 })
  const alone = await load(reads, readers)
  const [beside, loggedIn] = await Promise.all([load(reads, readers), load(logins, users)])
  const loginsAlone = await load(logins, users)
  return { alone, beside, logins: loggedIn, loginsAlone, rawPerSecond: await rawChecks(seconds) }
}

/** Checks per second of the bcrypt package with one running check per core. */
async function rawChecks(seconds: number): Promise<number> {
  const hash = await bcrypt.hash('right', passwordCost)
  const end = performance.now() + seconds * 1000
  let checks = 0
  const check = async () => {
    while (performance.now() < end) {
      await bcrypt.compare('wrong', hash)
      checks++
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, check))
  return checks / seconds
}
