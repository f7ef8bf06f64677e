// A data directory is renamed, removed or replaced under a running service. The service does not respond from another
// state, does not acknowledge writes to another directory, and exits with a reason.

import assert from 'node:assert/strict'
import { cp, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { eventually } from '../support/eventually.ts'
import { folderOfFile } from '../support/folder.ts'
import { rootQuery, send } from '../support/http.ts'
import { type ServerProcess, startProcess } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

const folder = folderOfFile()

/** A long query that writes. Its length sends it to the slow lane. */
const slowCreate = {
  create: { collection: 'things' },
  params: { object: { data: { object: { text: 'x'.repeat(300_000) } } } },
}

/**
 * Other queries stay in the service, so the slow lane starts after the change. A process from before would have the
 * former files open.
 */
const laneFlags = ['--slow-lane-after-ms', '600000']

const changes: Readonly<Record<string, (data: string, copy: string) => Promise<void>>> = {
  renamed: (data, copy) => rename(data, `${copy}.away`),
  removed: data => rm(data, { recursive: true }),
  replaced: async (data, copy) => {
    await rename(data, `${copy}.away`)
    await rename(copy, data)
  },
  'given another data file': async (data, copy) => {
    await rename(join(copy, 'data.mdb'), join(data, 'data.mdb'))
  },
}

/** Resolves with the output of the server after its exit. */
async function ended(server: ServerProcess): Promise<string> {
  await eventually('the server has ended', () => {
    try {
      process.kill(server.pid, 0)
      return false
    } catch {
      return true
    }
  })
  return server.stderr()
}

for (const workers of ['1', '2']) {
  for (const [change, apply] of Object.entries(changes)) {
    if (workers === '2' && change !== 'replaced') continue
    test(`the service exits when its directory is ${change}, ${workers} of the processes`, async () => {
      const data = join(folder, `${change} ${workers}`)
      const copy = `${data} copy`
      {
        await using former = await startProcess({ data })
        await rootQuery(former, { create_collection: { object: { name: 'things' } } })
      }
      await cp(data, copy, { recursive: true })
      const server = await startProcess({ data, flags: ['--workers', workers, ...laneFlags] })
      await rootQuery(server, { create_collection: { object: { name: 'later' } } })
      await apply(data, copy)
      const request = { secret: server.rootSecret, query: slowCreate }
      const answer = await send(server, request).catch(() => undefined)
      assert.notEqual(answer?.status, 201, 'what is acknowledged is in the folder that was served')
      const said = await ended(server)
      assert.match(said, /"level":60,.*has been renamed, removed or replaced while it was being served/)
      if (change === 'renamed' || change === 'replaced') await assertSound(`${copy}.away`)
    })
  }
}
