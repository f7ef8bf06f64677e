// kill -9 while clients write: every acknowledged write is stored afterwards, and every other write is stored
// completely or not at all. `npm run test:soak` kills a thousand times. The file takes more than 20 seconds, because it
// starts the service again after each kill.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderOfFile } from '../support/folder.ts'
import { keyOfNewDatabase, query, send } from '../support/http.ts'
import { roundsToRun } from '../support/seeded.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { slowCommits, slowQueries } from '../support/slow-queries.ts'
import { assertSound } from '../support/sound.ts'
import { createPair, createPairs, sides } from './pairs.ts'

const folder = folderOfFile()
const clients = 8
interface Setup {
  readonly name: string
  readonly flags: readonly string[]
  readonly rounds: number
  /** Acknowledged writes after which the server is killed, in each round. */
  readonly writes: number
  /** The number of documents that a query writes on each side. The default is one. */
  readonly documents?: number
  /** The work that the slow lane must have done: evaluation, or commits as well. */
  readonly lane?: 'evaluates' | 'commits'
}

// The slow lane evaluates all queries.
const laneFlags = ['--slow-lane-after-ms', '0', '--metrics-port', '0']

const largeTransactions = { rounds: 1, writes: 6, documents: 200, lane: 'commits' } as const

const setups: readonly Setup[] = [
  { name: 'one process', flags: [], rounds: 3, writes: 300 },
  { name: '--workers 2', flags: ['--workers', '2'], rounds: 3, writes: 300 },
  { name: 'slow lane', flags: laneFlags, rounds: 2, writes: 100, lane: 'evaluates' },
  { name: 'slow lane, large transactions', flags: laneFlags, ...largeTransactions },
  {
    name: 'slow lanes of --workers 2, large transactions',
    flags: ['--workers', '2', ...laneFlags],
    ...largeTransactions,
  },
]

interface AcknowledgedWrite {
  readonly ref: unknown
  readonly ts: number
}

/** Writes pairs from several clients until the server is killed. Returns the acknowledged writes by pair. */
async function writeUntilKilled(
  server: ServerProcess,
  secret: string,
  round: number,
  { documents = 1, writes }: Setup,
) {
  const answered = new Map<string, AcknowledgedWrite>()
  let killed: Promise<void> | undefined
  const client = async (number: number) => {
    for (let count = 0; ; count++) {
      const pair = `${round}/${number}/${count}`
      const answer = await send(server, { secret, query: createPair(pair, { documents }) }).catch(
        () => undefined,
      )
      // A worker that outlives the primary by a moment reports that the commit may have happened.
      const isUncertain = answer?.status === 503 && killed !== undefined
      if (!answer || isUncertain) return
      assert.equal(answer.status, 201, answer.text)
      answered.set(pair, (answer.json as { resource: AcknowledgedWrite }).resource)
      if (answered.size >= writes) killed ??= server.kill()
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  await killed
  return answered
}

async function assertComplete(
  server: ServerProcess,
  secret: string,
  answered: Map<string, AcknowledgedWrite>,
  documents: number,
) {
  const set = { match: { index: 'by_pair' } }
  const sidesOf = new Map<string, string[]>()
  let after: unknown
  do {
    const page = (await query(server, secret, {
      paginate: set,
      size: 1000,
      ...(after === undefined ? {} : { after }),
    })) as { data: [string, string][]; after?: unknown }
    for (const [pair, side] of page.data) sidesOf.set(pair, [...(sidesOf.get(pair) ?? []), side])
    after = page.after
  } while (after !== undefined)

  const all = sides.flatMap(side => Array(documents).fill(side))
  for (const [pair, found] of sidesOf) assert.deepEqual(found, all, `a part of ${pair}`)
  for (const pair of answered.keys()) assert.ok(sidesOf.has(pair), `${pair} was answered and is lost`)
  const shown = [...answered.values()]
  const times = await query(server, secret, {
    map: { lambda: 'ref', expr: { select: ['ts'], from: { get: { var: 'ref' } } } },
    collection: shown.map(({ ref }) => ref),
  })
  assert.deepEqual(
    times,
    shown.map(({ ts }) => ts),
  )
}

for (const setup of setups) {
  const { documents = 1, flags, lane, name, writes } = setup
  const rounds = roundsToRun(setup.rounds)
  test(`every acknowledged write survives kill -9 (${name})`, async () => {
    const data = join(folder, name)
    let server = await startProcess({ data, flags })
    const secret = await keyOfNewDatabase(server, 'crash', 'server')
    await createPairs(server, secret)
    const answered = new Map<string, AcknowledgedWrite>()
    for (let round = 0; round < rounds; round++) {
      for (const [pair, document] of await writeUntilKilled(server, secret, round, setup))
        answered.set(pair, document)
      await assertSound(data)
      server = await startProcess({ data, flags })
      await assertComplete(server, secret, answered, documents)
    }
    assert.ok(answered.size >= rounds * writes)
    if (lane === 'evaluates') assert.ok((await slowQueries(server)) > 0)
    if (lane === 'commits') {
      await query(server, secret, createPair('last', { documents }))
      assert.ok((await slowCommits(server)) > 0)
    }
    await server.stop()
    await assertSound(data)
  })
}
