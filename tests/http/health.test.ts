// The operator's requests over HTTP: the state of the service, a backup, a check. The started commands are real.

import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'
import { tagRange } from '../../src/storage/keys/keyspace.ts'
import { openLogged } from '../../src/storage/log/logged-store.ts'
import { eventually } from '../support/eventually.ts'
import { foldersOfFile } from '../support/folder.ts'
import { keyOfNewDatabase, rootQuery, send } from '../support/http.ts'
import { runProgram } from '../support/program.ts'
import { type RunningServer, startServer } from '../support/server.ts'
import { startProcess, withoutSlowLane } from '../support/server-process.ts'

const newFolder = foldersOfFile()

interface Task {
  readonly ended: number | null
  readonly result: { readonly is_good: boolean; readonly place: string; readonly findings?: string[] } | null
  readonly failure: string | null
}

interface Health {
  readonly processes: readonly {
    readonly worker: number
    readonly forwarded: object | null
    readonly counts: { readonly requests: number }
  }[]
  readonly work: {
    readonly builds: readonly object[]
    readonly builds_count: number
    readonly removals: number
  }
  readonly tasks: { readonly backup: Task | null; readonly check: Task | null }
  readonly backups: { readonly kept: readonly { readonly name: string; readonly bytes: number }[] } | null
}

async function health(server: RunningServer): Promise<Health> {
  const { json, status } = await send(server, {
    method: 'GET',
    path: '/api/v1/health',
    secret: server.rootSecret,
  })
  assert.equal(status, 200)
  return json as Health
}

const start = (server: RunningServer, what: 'backups' | 'checks') =>
  send(server, { path: `/api/v1/health/${what}`, secret: server.rootSecret, body: '' })

/** Starts a task and waits for its end. */
async function finished(server: RunningServer, kind: 'backup' | 'check'): Promise<Task> {
  const { status, text } = await start(server, `${kind}s`)
  assert.equal(status, 202, text)
  await eventually(`the ${kind} has ended`, async () => (await health(server)).tasks[kind]?.ended != null)
  return (await health(server)).tasks[kind] as Task
}

test('a backup during writes is complete, and can be restored', async () => {
  const folder = newFolder()
  const restored = join(folder, 'restored')
  await using server = await startServer({ flags: ['--backups', join(folder, 'backups')] })
  assert.deepEqual((await health(server)).tasks, { backup: null, check: null })
  await rootQuery(server, { create_collection: { object: { name: 'things' } } })
  await rootQuery(server, { create_index: { object: { name: 'all', source: { collection: 'things' } } } })
  await rootQuery(server, { create: { ref: { collection: 'things' }, id: '1' } })
  let isDone = false
  const writing = (async () => {
    while (!isDone) await rootQuery(server, { create: { collection: 'things' } })
  })()
  const { failure, result } = await finished(server, 'backup')
  isDone = true
  await writing
  assert.equal(failure, null)
  assert.equal(result?.is_good, true)
  const { kept } = (await health(server)).backups ?? { kept: [] }
  assert.equal(kept.length, 1)
  assert.equal(join(folder, 'backups', kept[0]?.name ?? ''), result?.place)
  assert.equal((await runProgram(['restore', result?.place ?? '', '--data', restored])).status, 0)
  assert.match((await runProgram(['check', '--data', restored])).stdout, /: sound\n$/)
  await using second = await startServer({ data: restored })
  assert.equal(await rootQuery(second, { exists: { ref: { collection: 'things' }, id: '1' } }), true)
  assert.equal((await health(second)).tasks.check?.result?.is_good, true, 'the check of the command is known')
})

test('without a folder for backups no backup starts, and a failed backup has a reason', async () => {
  const folder = newFolder()
  const file = join(folder, 'a-file')
  await writeFile(file, '')
  await using without = await startServer()
  await using blocked = await startServer({ flags: ['--backups', file] })
  const rejected = await start(without, 'backups')
  assert.equal(rejected.status, 403)
  assert.match(rejected.text, /--backups/)
  assert.equal((await health(without)).backups, null)
  await rootQuery(blocked, { create_collection: { object: { name: 'things' } } })
  const { failure, result } = await finished(blocked, 'backup')
  assert.equal(result, null)
  assert.match(failure ?? '', /cannot be (written|used): .*not a directory/)
})

test('a check runs beside the service, and reports contradictions', async () => {
  const data = newFolder()
  const server = await startServer({ data })
  await rootQuery(server, { create_collection: { object: { name: 'things' } } })
  await rootQuery(server, { create_index: { object: { name: 'all', source: { collection: 'things' } } } })
  for (let n = 0; n < 5; n++) await rootQuery(server, { create: { collection: 'things' } })
  assert.deepEqual((await finished(server, 'check')).result?.findings, [])
  // One process commits to a data directory at a time.
  await server.stop()
  const kv = openLogged({ path: data })
  const [row] = kv.read(view => [...view.range({ ...tagRange('indexLive'), limit: 1, reverse: true })])
  assert.ok(row)
  await kv.transact(() => ({ result: undefined, writes: [{ key: row.key, value: undefined }] }))
  await kv.close()
  await using damaged = await startServer({ data })
  const { result } = await finished(damaged, 'check')
  assert.equal(result?.is_good, false)
  assert.match(result?.findings?.join('\n') ?? '', /has no entry/)
})

test('all workers are shown, and each shows a check that another one has started', async () => {
  await using server = await startProcess({ flags: ['--workers', '3', ...withoutSlowLane] })
  let found = new Set<number>()
  while (found.size < 3) {
    const { processes } = await health(server)
    // The supervisor has a report of its own.
    found = new Set(processes.filter(({ forwarded }) => forwarded === null).map(({ worker }) => worker))
  }
  assert.deepEqual([...found].sort(), [0, 1, 2])
  const path = '/api/v1/health/checks'
  // A connection per request, so that the workers take turns.
  const headers = { connection: 'close' }
  await rootQuery(server, { create_collection: { object: { name: 'things' } } })
  const first = await send(server, { path, secret: server.rootSecret, body: '', headers })
  assert.equal(first.status, 202)
  await eventually('the check has ended', async () => (await health(server)).tasks.check?.ended != null)
})

test('a second task of a kind is rejected; a vanished task is shown as failed', async () => {
  await using server = await startServer()
  const note = (seen: number) =>
    writeFile(
      join(server.data, 'check-note.json'),
      JSON.stringify({
        ...{ kind: 'check', pid: 1, started: seen, seen, progress: { step: 'documents: 100 checked' } },
        ...{ ended: null, result: null, failure: null },
      }),
    )
  await note(Date.now())
  assert.equal((await start(server, 'checks')).status, 409)
  assert.equal((await health(server)).tasks.check?.ended, null)
  await note(Date.now() - 60_000)
  assert.match((await health(server)).tasks.check?.failure ?? '', /exited without a result/)
  assert.equal((await finished(server, 'check')).failure, null)
})

test('only the root secret has access', async () => {
  await using server = await startServer()
  const admin = await keyOfNewDatabase(server, 'own', 'admin')
  for (const secret of [admin, `${server.rootSecret}:own:admin`, 'wrong', undefined]) {
    for (const path of ['', '/backups', '/checks']) {
      const method = path === '' ? 'GET' : 'POST'
      const { status } = await send(server, {
        method,
        path: `/api/v1/health${path}`,
        ...(secret && { secret }),
      })
      assert.equal(status, secret === 'wrong' || !secret ? 401 : 403)
    }
  }
})
