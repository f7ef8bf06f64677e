// The log after restarts and crashes, with several processes, and when URLs expire. The file takes more than 20 seconds,
// because its tests start and kill services.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { recordsOf } from '../../src/query-log/segment-blocks.ts'
import { listSegments } from '../../src/query-log/segment-files.ts'
import { foldersOfFile } from '../support/folder.ts'
import { keyOfNewDatabase, query, rootQuery, send } from '../support/http.ts'
import { type ServerProcess, startProcess, withoutSlowLane } from '../support/server-process.ts'
import { api, exported, finished, type LogRecord, requestExport } from './log-client.ts'

const newFolder = foldersOfFile()

const everything = { region_group: 'us-std' }

/** A query that identifies its record. */
const marked = (server: ServerProcess, mark: string) =>
  send(server, {
    secret: server.rootSecret,
    query: { now: null },
    headers: { 'x-fauna-tags': `mark=${mark}` },
  })

const marksOf = (records: readonly LogRecord[]) =>
  records.flatMap(({ TAGS }) => (TAGS as { mark?: string }).mark ?? [])

/** The text of all segments in a data directory. */
function segmentsOf(data: string): string {
  const folder = join(data, 'query-log/records')
  const names = readdirSync(folder).filter(name => name.endsWith('.log'))
  return names.map(name => readFileSync(join(folder, name), 'utf8')).join('')
}

test('a stop loses nothing, a crash nothing that has reached a segment; exports continue', async () => {
  const data = newFolder()
  let server = await startProcess({ data, flags: withoutSlowLane })
  await marked(server, 'stopped')
  await server.stop()
  server = await startProcess({ data, flags: withoutSlowLane })
  await marked(server, 'killed')
  while (!segmentsOf(data).includes('"mark":"killed"')) await wait(20)
  const { request_id: id } = await requestExport(server, server.rootSecret, everything)
  await server.kill()
  server = await startProcess({ data, flags: withoutSlowLane })
  await marked(server, 'after')
  assert.deepEqual(marksOf(await exported(server, server.rootSecret, everything)), [
    'stopped',
    'killed',
    'after',
  ])
  assert.equal((await finished(server, server.rootSecret, id)).state, 'Complete')
  await server.stop()
})

test('with several processes an export waits for the records of all of them', async () => {
  await using server = await startProcess({ flags: ['--workers', '2', ...withoutSlowLane] })
  const marks = Array.from({ length: 60 }, (_, n) => `m${n}`)
  // Connections are closed, so that the queries are distributed over the processes.
  const headers = (mark: string) => ({ connection: 'close', 'x-fauna-tags': `mark=${mark}` })
  for (const mark of marks) {
    await send(server, { secret: server.rootSecret, query: { now: null }, headers: headers(mark) })
  }
  const found = marksOf(await exported(server, server.rootSecret, everything))
  assert.deepEqual(found.sort(), [...marks].sort())
  const writers = new Set(
    readdirSync(join(server.data, 'query-log/records')).flatMap(
      name => /-([0-9a-f]+)\.log$/.exec(name)?.[1] ?? [],
    ),
  )
  assert.equal(writers.size, 2, 'both processes have recorded')
})

test('an expired URL returns 403; the next request creates a new URL with the next version', async () => {
  const data = newFolder()
  const brief = await startProcess({ data, flags: ['--query-log-url-seconds', '2', ...withoutSlowLane] })
  await marked(brief, 'x')
  const { request_id: id } = await requestExport(brief, brief.rootSecret, everything)
  const first = await finished(brief, brief.rootSecret, id)
  // On a busy machine the first URL may have expired before it was requested.
  const version = first.version as number
  while ((await fetch(first.presigned_url as string)).status !== 403) await wait(100)
  await brief.stop()
  // The new URL does not expire during the test.
  await using server = await startProcess({ data, flags: withoutSlowLane })
  const asked = await api(server, server.rootSecret, 'GET', `/api/v1/logs/${id}?type=query&regionGroup=x`)
  assert.deepEqual([asked.json.state, asked.json.version], ['CreatingNewUrl', version + 1])
  assert.ok(!('presigned_url' in asked.json))
  const second = await finished(server, server.rootSecret, id)
  assert.deepEqual([second.state, second.version], ['Complete', version + 1])
  assert.equal((await fetch(second.presigned_url as string)).status, 200)
})

test('typed content never reaches the files of the log', async () => {
  const data = newFolder()
  const server = await startProcess({ data, flags: withoutSlowLane })
  const secret = await keyOfNewDatabase(server, 'app', 'admin')
  const run = (expression: unknown) => query(server, secret, expression)
  const mine = { object: { password: 'hunter2-password' } }
  await run({ create_collection: { object: { name: 'people' } } })
  const user = {
    data: {
      object: {
        email: 'ann@example.com',
        'field-of-ann': 4_111_111_111_111_111,
        when: { '@date': '1987-06-05' },
      },
    },
    credentials: mine,
  }
  const made = (await run({ create: { collection: 'people' }, params: { object: user } })) as {
    ref: { '@ref': { id: string } }
  }
  const { id } = made.ref['@ref']
  const ref = { ref: { collection: 'people' }, id }
  const login = { login: ref, params: { object: { password: 'hunter2-password' } } }
  const token = (await run(login)) as { secret: string }
  await send(server, { secret: token.secret, query: { identify: ref, password: 'hunter2-wrong' } })
  await send(server, { secret: 'hunter2-unknown', query: 'hunter2-text' })
  await send(server, { secret, body: '{"hunter2-broken' })
  await send(server, { secret, query: { 'hunter2-key': 'hunter2-value' } })
  await send(server, { secret, query: { var: 'hunter2-variable' } })
  await send(server, { secret, method: 'GET', path: '/?q=%22hunter2-get%22' })
  await rootQuery(server, { let: { 'hunter2-binding': 1 }, in: { abort: 'hunter2-abort' } }).catch(() => {})
  await exported(server, server.rootSecret, everything)
  await server.stop()
  const records: string[] = []
  for (const { path } of await listSegments(join(data, 'query-log/records')))
    for await (const group of recordsOf(path, undefined))
      for (const record of group.records) records.push(record.line())
  assert.ok(records.length > 10)
  const exportedText = records.join('\n')
  const stored = segmentsOf(data)
  // Times, random ids and compressed bytes contain every short text at some point, but none of these.
  const forbidden = [
    'hunter2',
    'ann@example',
    'field-of-ann',
    '4111111111111111',
    '1987-06-05',
    'people',
    id,
    secret,
    token.secret,
    server.rootSecret,
  ]
  for (const word of forbidden) assert.ok(!exportedText.includes(word), `${word} is in a record`)
  // The files also contain names of existing collections and the caller, who is logged in as a document.
  const known = ['people', id]
  for (const word of forbidden.filter(each => !known.includes(each)))
    assert.ok(!stored.includes(word), `${word} is in a file`)
})
