// The machine's clock is set between two runs of the service: times of reads never go back, and no data is removed too
// early.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { rootQuery } from '../support/http.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

const folder = folderOfFile()
const preload = fileURLToPath(new URL('../support/set-clock.ts', import.meta.url))
const hourMs = 3_600_000
const yearMs = 365 * 24 * hourMs

/** Runs `use` on a service over `data` whose clock is `aheadMs` ahead. */
async function served<T>(
  data: string,
  aheadMs: number,
  flags: readonly string[],
  use: (server: ServerProcess) => Promise<T>,
): Promise<T> {
  const env = {
    NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ''} --import ${preload}`,
    CLOCK_AHEAD_MS: `${aheadMs}`,
  }
  await using server = await startProcess({ data, flags, env })
  return await use(server)
}

/** The time of a snapshot, by a query that writes nothing. */
const readTime = async (server: ServerProcess): Promise<number> => {
  const now = (await rootQuery(server, { to_micros: { now: null } })) as number
  assert.equal(typeof now, 'number')
  return now
}

for (const workers of [1, 2]) {
  test(`reads do not go back in time over restarts with the clock set back (workers: ${workers})`, async () => {
    const data = join(folder, `${workers}`)
    const flags = ['--workers', `${workers}`]
    const first = await served(data, 0, flags, readTime)
    const ahead = await served(data, hourMs, flags, readTime)
    assert.ok(ahead - first >= hourMs * 1000)
    const back = await served(data, -hourMs, flags, readTime)
    assert.ok(back >= ahead, `${back} is before ${ahead}`)
    await assertSound(data)
  })
}

test('a leap of the clock is logged once for each kind of data, and removes nothing', async () => {
  const data = join(folder, 'leap')
  const leaps = (server: ServerProcess) => server.stderr().match(/the clock is 36\d\.\d days ahead/g)?.length
  await served(data, 0, [], async server => {
    await rootQuery(server, { create_collection: { object: { name: 'c', history_days: 30 } } })
    const create = { create: { ref: { collection: 'c' }, id: '1' } }
    await rootQuery(server, { ...create, params: { object: { data: { object: { n: 1 } } } } })
    assert.equal(leaps(server), undefined)
  })
  await served(data, yearMs, [], async server => {
    await eventually('the leap is said', () => leaps(server) === 2)
    assert.match(server.stderr(), /expired history and expired documents are kept/)
    assert.match(server.stderr(), /expired query logs and exports are kept/)
    await rootQuery(server, { exists: { ref: { collection: 'c' }, id: '1' } })
  })
  await served(data, 0, [], async server => {
    const ref = { ref: { collection: 'c' }, id: '1' }
    const params = { object: { data: { object: { n: 2 } } } }
    await rootQuery(server, { update: ref, params })
    const page = await rootQuery(server, { paginate: { events: ref } })
    const { data: versions } = page as { data: unknown[] }
    assert.equal(versions.length, 2)
    assert.equal(leaps(server), undefined)
  })
  await assertSound(data)
})
