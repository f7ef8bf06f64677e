// Tasks that the operator starts, whose process or service exits; and reports of processes that start and exit.

import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { takeLock } from '../../../../src/base/lock-file.ts'
import { micros } from '../../../../src/base/micros.ts'
import { NoticeBoard } from '../../../../src/base/notices.ts'
import { processMark } from '../../../../src/base/system-process.ts'
import { Operation, type StartCommand, type TaskError } from '../../../../src/server/operation/operation.ts'
import { withTaskNote } from '../../../../src/server/operation/task-note.ts'
import { folderOfFile } from '../../../support/folder.ts'

const folder = folderOfFile()
let data: string

beforeEach(async () => {
  data = join(folder, 'data')
  await rm(data, { recursive: true, force: true })
  await mkdir(data)
  await writeFile(join(data, 'data.mdb'), 'something')
})

const counts = {
  ...{ requests: 0, client_errors: 0, server_errors: 0, refused: 0, in_flight: 0, durations: [] },
  ...{ reads: 0, writes: 0, retries: 0, slow_queries: 0, streams: 0, lost_records: 0 },
}

interface OperationOptions {
  readonly startCommand?: StartCommand
  readonly notices?: NoticeBoard
  readonly node?: string
  readonly now?: () => number
}

function operation({ startCommand, notices, node = 'one:8443', now }: OperationOptions): Operation {
  return new Operation({
    ...{ version: '1', node, worker: 0, workers: 1, data, startCommand, notices },
    ...{ backups: join(folder, 'backups'), queryLogFolder: join(data, 'query-log') },
    parts: () => ({
      counts,
      slow_lane: null,
      standing: null,
      commit_log: null,
      works_in_background: true,
      forwarded: null,
    }),
    pendingWork: () => ({ builds: [], builds_count: 0, removals: 0 }),
    ...(now && { clock: { now: () => micros(now() * 1000), elapsedMs: now } }),
  })
}

const children = new Set<ChildProcess>()
// A test that fails leaves its child, which would keep the test process alive.
afterEach(() => {
  for (const child of children) child.kill()
  children.clear()
})

function run(code: string) {
  const child = spawn(process.execPath, ['-e', code], { stdio: ['pipe', 'ignore', 'pipe'] })
  children.add(child)
  return child
}

test('stopping the service ends a backup and removes its partial copy', async () => {
  const words: string[][] = []
  const one = operation({
    startCommand: given => {
      words.push([...given])
      mkdirSync(`${given[1]}.ab12.partial`, { recursive: true })
      return run('setInterval(() => {}, 1000)')
    },
  })
  await one.start('backup')
  await assert.rejects(one.start('backup'), (error: TaskError) => error.reason === 'conflict')
  assert.equal((await one.state()).tasks.backup?.ended, null)
  await one.close()
  assert.deepEqual(await readdir(join(folder, 'backups')), [])
  const [[command, place] = []] = words
  assert.equal(command, 'backup')
  assert.match(place ?? '', /backups\/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\dZ$/)
  assert.equal((await operation({}).state()).tasks.backup?.failure, 'The process exited (SIGTERM).')
})

test('the last error output of a command that exits without a result becomes its failure', async () => {
  const child = run('console.error("no memory left"); process.exit(3)')
  const one = operation({ startCommand: () => child })
  await one.start('check')
  await once(child, 'close')
  await one.close()
  assert.equal((await one.state()).tasks.check?.failure, 'no memory left')
})

test('only one of two processes of a service that start a task at the same time starts its command', async () => {
  let starts = 0
  const startCommand = () => {
    starts++
    return run('setInterval(() => {}, 1000)')
  }
  const first = operation({ startCommand })
  // Another process of the service is between its check and its note.
  const lock = takeLock({ folder: data, name: 'check-start' }, process.ppid)
  assert.ok('release' in lock)
  await assert.rejects(first.start('check'), (error: TaskError) => error.reason === 'conflict')
  assert.equal(starts, 0)
  lock.release()
  await first.start('check')
  assert.equal(starts, 1)
  const locks = (await readdir(data)).filter(name => name.endsWith('.lock'))
  assert.deepEqual(locks, [])
  await first.close()
})

/** Changes the note of a task in the data directory, as its process or the passing of time would. */
async function renote(change: object): Promise<void> {
  const file = join(data, 'check-note.json')
  await writeFile(file, JSON.stringify({ ...JSON.parse(await readFile(file, 'utf8')), ...change }))
}

const longAgo = () => ({ seen: Date.now() - 3_600_000 })

const onlyLinux = processMark(process.pid) === undefined ? 'only Linux tells which processes live' : false

test('a task without an update is running while its process lives, and its last output becomes its failure', {
  skip: onlyLinux,
}, async () => {
  const child = run('process.stdin.once("data", () => { console.error("no memory left"); process.exit(3) })')
  const one = operation({ startCommand: () => child })
  await one.start('check')
  await renote(longAgo())
  assert.equal((await one.state()).tasks.check?.ended, null)
  await assert.rejects(one.start('check'), (error: TaskError) => error.reason === 'conflict')
  child.stdin.write('end')
  await once(child, 'close')
  await one.close()
  assert.equal((await one.state()).tasks.check?.failure, 'no memory left')
})

test('a task ends at once when its process has exited, and after a while if this cannot be determined', async () => {
  const child = run('process.stdin.resume()')
  const one = operation({ startCommand: () => child })
  await one.start('check')
  const check = async () => (await one.state()).tasks.check
  const vanished = /exited without a result/
  await renote({ process: undefined })
  assert.equal((await check())?.ended, null)
  await renote(longAgo())
  assert.match((await check())?.failure ?? '', vanished)
  const mark = processMark(process.pid)
  if (mark !== undefined) {
    await renote({ pid: process.pid, process: mark, seen: Date.now() })
    assert.equal((await check())?.ended, null)
    await renote({ process: mark.replace(/\d+$/, '1') })
    assert.match((await check())?.failure ?? '', vanished)
  }
  await one.close()
})

test('an embedded service cannot start commands', async () => {
  await assert.rejects(operation({}).start('check'), (error: TaskError) => error.reason === 'forbidden')
})

test('processes exchange reports only while a client views them, and reports of exited processes expire', async () => {
  let nowMs = 0
  const boards = [new NoticeBoard(), new NoticeBoard()] as const
  const now = () => nowMs
  const one = operation({ notices: boards[0], now })
  operation({ notices: boards[1], node: 'two:8443', now })
  const exchange = () => {
    const told = boards.map(board => board.collect())
    for (const [from, text] of told.entries()) if (text !== undefined) boards[1 - from]?.receive(text)
    return told.filter(text => text !== undefined).length
  }
  const nodes = async () => (await one.state()).processes.map(({ node }) => node)
  assert.equal(exchange(), 0, 'nobody looks')
  assert.deepEqual(await nodes(), ['one:8443'])
  exchange()
  exchange()
  assert.deepEqual(await nodes(), ['one:8443', 'two:8443'])
  nowMs += 11_000
  assert.deepEqual(await nodes(), ['one:8443'], 'the other one has said nothing for long')
  exchange()
  assert.deepEqual(await nodes(), ['one:8443', 'two:8443'])
  nowMs += 60_000
  assert.equal(exchange(), 0, 'nobody has looked for long')
})

test('failed and running tasks do not replace the last completed task', async () => {
  const resultOf = (place: string) => ({ is_good: true, place })
  const succeed = (place: string) => withTaskNote(data, 'backup', async () => place, resultOf)
  const fail = () => withTaskNote(data, 'backup', async () => Promise.reject(new Error('no room')), resultOf)
  const one = operation({})
  const backup = async () => (await one.state()).tasks.backup
  await succeed('/first')
  const first = await backup()
  await assert.rejects(fail(), /no room/)
  await assert.rejects(fail(), /no room/)
  const { failure, result, succeeded } = (await backup()) ?? assert.fail()
  assert.deepEqual([failure, result], ['no room', null])
  assert.deepEqual(succeeded, { ended: first?.ended, result: { is_good: true, place: '/first' } })
  await withTaskNote(
    data,
    'backup',
    async () => assert.deepEqual((await backup())?.succeeded?.result, resultOf('/first')),
    () => resultOf('/second'),
  )
  await assert.rejects(fail(), /no room/)
  assert.deepEqual((await backup())?.succeeded?.result, resultOf('/second'))
})
