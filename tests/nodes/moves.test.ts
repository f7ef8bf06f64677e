// Data moves from a data directory to a shared store and back with the operator's commands, and nothing is lost.
// The file takes more than 20 seconds, because each step runs a command or starts a service.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, rm, truncate } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { createServer } from '../../src/app/index.ts'
import { systemRandom } from '../../src/base/random.ts'
import { PostgresSession } from '../../src/storage/postgres/postgres-session.ts'
import { createTables, unfilledVersion } from '../../src/storage/postgres/tables.ts'
import { holdLease } from '../../src/storage/postgres/upkeep.ts'
import { FaultyProxy } from '../support/faulty-proxy.ts'
import { folderOfFile } from '../support/folder.ts'
import { query, send } from '../support/http.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { runProgram } from '../support/program.ts'
import { startProcess } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

const folder = folderOfFile()

const root = 'root-secret-of-the-tests'
const read = { select: ['data', 'text'], from: { get: { ref: { collection: 'notes' }, id: '1' } } }

test('data moves from a directory to a store, to a backup and back to a directory', {
  skip: noPostgres,
}, async () => {
  const postgres = await PostgresServer.start()
  try {
    const env = { TERRARIUM_STORE: postgres.url() }
    const first = join(folder, 'first')
    const alone = await startProcess({ data: first })
    await query(alone, root, { create_collection: { object: { name: 'notes' } } })
    const note = { object: { data: { object: { text: 'kept' } } } }
    await query(alone, root, { create: { ref: { collection: 'notes' }, id: '1' }, params: note })
    // Enough documents for more than one page of a copy.
    for (let more = 0; more < 10; more++) await query(alone, root, { create: { collection: 'notes' } })
    await alone.stop()
    const made = await runProgram(['account-key', 'create', '--name', 'pipeline', '--data', first])
    assert.equal(made.status, 0, made.stderr)

    const moved = await runProgram(['migrate', '--data', first], env)
    assert.equal(moved.status, 0, moved.stderr)
    const again = await runProgram(['migrate', '--data', first], env)
    assert.equal(again.status, 1)
    assert.match(again.stderr, /already contains a store/)

    const data = join(folder, 'node')
    const node = await startProcess({ data, env })
    assert.equal(await query(node, root, read), 'kept')
    const changed = { object: { data: { object: { text: 'changed' } } } }
    await query(node, root, { update: { ref: { collection: 'notes' }, id: '1' }, params: changed })
    const checked = await runProgram(['check', '--data', data], env)
    assert.equal(checked.status, 0, checked.stdout + checked.stderr)
    const backup = join(folder, 'backup')
    const backedUp = await runProgram(['backup', backup], env)
    assert.equal(backedUp.status, 0, backedUp.stderr)
    await node.stop()

    const back = join(folder, 'back')
    const proxy = await FaultyProxy.to(postgres.port)
    let pages = 0
    proxy.losesAndCuts = sent => sent.includes('SELECT key, value') && ++pages === 2
    const interrupted = await runProgram(['migrate', '--back', '--data', back], {
      TERRARIUM_STORE: postgres.url().replace(`:${postgres.port}/`, `:${proxy.port}/`),
    })
    await proxy.close()
    assert.equal(interrupted.status, 1, interrupted.stdout)
    assert.ok(!existsSync(back) && existsSync(`${back}.partial`))
    const returned = await runProgram(['migrate', '--back', '--data', back], env)
    assert.equal(returned.status, 0, returned.stderr)
    assert.ok(!existsSync(`${back}.partial`))
    const kept = await runProgram(['account-key', 'list', '--data', back])
    assert.match(kept.stdout, /pipeline/)
    await assertSound(back)
    const restored = await runProgram(['restore', backup, '--store-schema', 'other'], env)
    assert.equal(restored.status, 0, restored.stderr)
    const last = await startProcess({ data: back })
    assert.equal(await query(last, root, read), 'changed')
    await last.stop()
  } finally {
    await postgres.stop()
  }
})

test('a move after a killed one says when it can continue, and then continues', {
  skip: noPostgres,
}, async () => {
  const postgres = await PostgresServer.start()
  try {
    const env = { TERRARIUM_STORE: postgres.url() }
    const source = join(folder, 'killed')
    const alone = await startProcess({ data: source })
    await query(alone, root, { create_collection: { object: { name: 'notes' } } })
    await alone.stop()
    // A killed move leaves its lease and its rows.
    const location = { url: postgres.url(), schema: 'terrarium' }
    await PostgresSession.use(location, 'killed', async session => {
      await createTables(session, systemRandom, unfilledVersion)
      await holdLease(session, 'migration', 'killed', 3600)
    })
    const early = await runProgram(['migrate', '--data', source], env)
    assert.equal(early.status, 1)
    const [, seconds] = /moving data .* run the command again in (\d+) seconds/.exec(early.stderr) ?? []
    assert.ok(Number(seconds) > 0 && Number(seconds) <= 3600, early.stderr)
    await postgres.query("UPDATE terrarium.lease SET until = now() - interval '1 second'")
    const moved = await runProgram(['migrate', '--data', source], env)
    assert.equal(moved.status, 0, moved.stderr)
  } finally {
    await postgres.stop()
  }
})

test('a node whose replica was deleted or emptied after a move copies the store again', {
  skip: noPostgres,
}, async () => {
  const postgres = await PostgresServer.start()
  try {
    const env = { TERRARIUM_STORE: postgres.url() }
    const source = join(folder, 'source')
    const alone = await startProcess({ data: source })
    await query(alone, root, { create_collection: { object: { name: 'notes' } } })
    const note = { object: { data: { object: { text: 'kept' } } } }
    await query(alone, root, { create: { ref: { collection: 'notes' }, id: '1' }, params: note })
    await alone.stop()
    const moved = await runProgram(['migrate', '--data', source], env)
    assert.equal(moved.status, 0, moved.stderr)

    const data = join(folder, 'emptied')
    const replica = join(data, 'replica')
    const damages = [
      () => Promise.resolve(),
      () => rm(join(replica, 'data.mdb')),
      () => truncate(join(replica, 'data.mdb'), 0),
      async () => {
        for (const name of await readdir(replica)) await rm(join(replica, name))
      },
    ]
    for (const damage of damages) {
      await damage()
      const node = await startProcess({ data, env })
      assert.equal(await query(node, root, read), 'kept')
      assert.match(node.stderr(), /copying the state of the store/)
      await node.stop()
    }
    const checked = await runProgram(['check', '--data', data], env)
    assert.equal(checked.status, 0, checked.stdout + checked.stderr)
  } finally {
    await postgres.stop()
  }
})

test('a data directory is served only with settings that fit its content, unless the operator confirms', {
  skip: noPostgres,
}, async () => {
  const postgres = await PostgresServer.start()
  try {
    const env = { TERRARIUM_STORE: postgres.url() }
    const data = join(folder, 'moved')
    const alone = await startProcess({ data })
    await query(alone, root, { create_collection: { object: { name: 'notes' } } })
    const note = { object: { data: { object: { text: 'kept' } } } }
    await query(alone, root, { create: { ref: { collection: 'notes' }, id: '1' }, params: note })
    await alone.stop()
    const rejected = async (served: string, reason: RegExp, variables = {}) => {
      await assert.rejects(startProcess({ data: served, env: variables }), reason)
    }

    await rejected(data, /moved contains data of its own, .* or give --accept-data/, env)
    const moved = await runProgram(['migrate', '--data', data], env)
    assert.equal(moved.status, 0, moved.stderr)
    const gone = /moved has been moved to 127.0.0.1:\d+\/postgres schema terrarium: give --store/
    await rejected(data, gone)
    for (const words of [
      ['backup', join(folder, 'stale')],
      ['account-key', 'list'],
    ]) {
      const { status, stderr } = await runProgram([...words, '--data', data])
      assert.equal(status, 1)
      assert.match(stderr, gone)
    }
    await assert.rejects(createServer({ data }), gone)

    // The node with this directory hands over the directory's query log.
    const node = await startProcess({ data, env })
    assert.equal(await query(node, root, read), 'kept')
    await node.stop()
    const own = join(folder, 'own')
    const other = await startProcess({ data: own, env })
    await other.stop()
    await rejected(own, /own belongs to a node over a shared store: give --store .* or --accept-data/)

    const flags = ['--accept-data']
    const begun = await startProcess({ data: own, flags })
    assert.equal((await send(begun, { secret: root, query: read })).status, 400)
    await begun.stop()
    const left = await startProcess({ data, flags })
    assert.equal(await query(left, root, read), 'kept')
    await left.stop()
    // From then on, the directory contains data of its own again.
    await rejected(data, /moved contains data of its own/, env)
    const again = await startProcess({ data })
    await again.stop()
    const aside = await startProcess({ data, env, flags })
    await aside.stop()
  } finally {
    await postgres.stop()
  }
})
