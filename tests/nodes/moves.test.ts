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
import { query, runText, send } from '../support/http.ts'
import { noPostgres, PostgresServer } from '../support/postgres.ts'
import { outputOf, runProgram } from '../support/program.ts'
import { type ProcessOptions, startProcess } from '../support/server-process.ts'
import { assertSound } from '../support/sound.ts'

const folder = folderOfFile()

const root = 'root-secret-of-the-tests'
const read = { select: ['data', 'text'], from: { get: { ref: { collection: 'notes' }, id: '1' } } }

/** A service that is stopped after a check of its note. */
async function assertServes(options: ProcessOptions, text = 'kept'): Promise<void> {
  await using server = await startProcess(options)
  assert.equal(await query(server, root, read), text)
}

async function createNotes(data: string): Promise<void> {
  await using server = await startProcess({ data })
  await runText(server, root, 'CreateCollection({ name: "notes" })')
  await runText(server, root, 'Create(Ref(Collection("notes"), "1"), { data: { text: "kept" } })')
  // Enough documents for more than one page of a copy.
  for (let more = 0; more < 10; more++) await runText(server, root, 'Create(Collection("notes"))')
}

test('data moves from a directory to a store, to a backup and back to a directory', {
  skip: noPostgres,
}, async () => {
  await using postgres = await PostgresServer.start()
  const env = { TERRARIUM_STORE: postgres.url() }
  const first = join(folder, 'first')
  await createNotes(first)
  await outputOf(['account-key', 'create', '--name', 'pipeline', '--data', first])

  await outputOf(['migrate', '--data', first], env)
  const again = await runProgram(['migrate', '--data', first], env)
  assert.equal(again.status, 1)
  assert.match(again.stderr, /already contains a store/)

  const data = join(folder, 'node')
  const node = await startProcess({ data, env })
  assert.equal(await query(node, root, read), 'kept')
  await runText(node, root, 'Update(Ref(Collection("notes"), "1"), { data: { text: "changed" } })')
  await outputOf(['check', '--data', data], env)
  const backup = join(folder, 'backup')
  await outputOf(['backup', backup], env)
  await node.stop()

  const back = join(folder, 'back')
  await using proxy = await FaultyProxy.to(postgres.port)
  let pages = 0
  proxy.losesAndCuts = sent => sent.includes('SELECT key, value') && ++pages === 2
  const interrupted = await runProgram(['migrate', '--back', '--data', back], {
    TERRARIUM_STORE: postgres.url().replace(`:${postgres.port}/`, `:${proxy.port}/`),
  })
  assert.equal(interrupted.status, 1, interrupted.stdout)
  assert.ok(!existsSync(back) && existsSync(`${back}.partial`))
  await outputOf(['migrate', '--back', '--data', back], env)
  assert.ok(!existsSync(`${back}.partial`))
  assert.match(await outputOf(['account-key', 'list', '--data', back]), /pipeline/)
  await assertSound(back)
  await outputOf(['restore', backup, '--store-schema', 'other'], env)
  await assertServes({ data: back }, 'changed')
})

test('a move after a killed one says when it can continue, and then continues', {
  skip: noPostgres,
}, async () => {
  await using postgres = await PostgresServer.start()
  const env = { TERRARIUM_STORE: postgres.url() }
  const source = join(folder, 'killed')
  await createNotes(source)
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
  await outputOf(['migrate', '--data', source], env)
})

test('a node whose replica was deleted or emptied after a move copies the store again', {
  skip: noPostgres,
}, async () => {
  await using postgres = await PostgresServer.start()
  const env = { TERRARIUM_STORE: postgres.url() }
  const source = join(folder, 'source')
  await createNotes(source)
  await outputOf(['migrate', '--data', source], env)

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
    await using node = await startProcess({ data, env })
    assert.equal(await query(node, root, read), 'kept')
    assert.match(node.stderr(), /copying the state of the store/)
  }
  await outputOf(['check', '--data', data], env)
})

test('a data directory is served only with settings that fit its content, unless the operator confirms', {
  skip: noPostgres,
}, async () => {
  await using postgres = await PostgresServer.start()
  const env = { TERRARIUM_STORE: postgres.url() }
  const data = join(folder, 'moved')
  await createNotes(data)
  const rejected = async (served: string, reason: RegExp, variables = {}) => {
    await assert.rejects(startProcess({ data: served, env: variables }), reason)
  }

  await rejected(data, /moved contains data of its own, .* or give --accept-data/, env)
  await outputOf(['migrate', '--data', data], env)
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
  await assertServes({ data, env })
  const own = join(folder, 'own')
  await assertServes({ data: own, env })
  await rejected(own, /own belongs to a node over a shared store: give --store .* or --accept-data/)

  const flags = ['--accept-data']
  const begun = await startProcess({ data: own, flags })
  assert.equal((await send(begun, { secret: root, query: read })).status, 400)
  await begun.stop()
  await assertServes({ data, flags })
  // From then on, the directory contains data of its own again.
  await rejected(data, /moved contains data of its own/, env)
  await assertServes({ data })
  await (await startProcess({ data, env, flags })).stop()
})
