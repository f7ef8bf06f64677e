// The suite on the lmdb engine, and tests of an engine on disk: reopening, other processes, kill -9.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describe, test } from 'node:test'
import { open } from 'lmdb'
import { epoch } from '../../src/base/micros.ts'
import { systemTimers } from '../../src/base/timers.ts'
import type { KeyValueStore, Write } from '../../src/storage/kv/kv-contract.ts'
import { StoreUnavailableError } from '../../src/storage/kv/store-errors.ts'
import { loggedLayout, plainLayout } from '../../src/storage/lmdb/folder.ts'
import { openLmdb } from '../../src/storage/lmdb/lmdb.ts'
import { openLogged } from '../../src/storage/log/logged-store.ts'
import { pathsOfFile } from '../support/folder.ts'
import { bytes, list, put, stoppedClock, text, write } from './bytes.ts'
import { storeSuite } from './suite.ts'

const newPath = pathsOfFile()

storeSuite('lmdb', () => openLmdb({ path: newPath() }), { prepares: false })

function spawnWriter(path: string, count: number) {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'lmdb-child.ts'), path, String(count)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = new Promise<NodeJS.Signals | number | null>(resolve => {
    child.once('close', (code, signal) => resolve(signal ?? code))
  })
  return { child, ended, lines: createInterface({ input: child.stdout }) }
}

const has = (store: KeyValueStore, number: string) =>
  store.read(view => view.get(bytes(`n${number}`))) !== undefined

/** Opens a directory like the engine, with the check of the first pages. */
function environment(path: string) {
  return open<Buffer, Buffer>({
    path,
    keyEncoding: 'binary',
    encoding: 'binary',
    noSubdir: false,
    pageSize: 4096,
    overlappingSync: false,
    mapSize: 2 ** 30,
    maxReaders: 1024,
  })
}

const layoutKey = Buffer.from('layout')

describe('the directory of lmdb', () => {
  test('keeps its entries when it is closed and reopened, also in a directory with a dot', async () => {
    const path = join(newPath(), 'deep', 'data.db')
    const first = openLmdb({ path })
    await first.transact(write(put('a', '1')))
    await first.close()
    const second = openLmdb({ path })
    assert.deepEqual(list(second), ['a=1'])
    await second.close()
  })

  test('a directory of another layout is rejected with advice, and not changed', async () => {
    for (const layout of ['1', '2', 'to 3', loggedLayout]) {
      const path = newPath()
      const root = environment(path)
      await root.put(layoutKey, Buffer.from(layout))
      await root.close()
      assert.throws(() => openLmdb({ path }), {
        name: StoreUnavailableError.name,
        message: new RegExp(`has data layout ${layout}, .* export the data with the version that wrote it`),
      })
      const again = environment(path)
      assert.equal(again.get(layoutKey)?.toString(), layout)
      await again.close()
    }
  })

  test('a directory of a layout that no release has written is rejected and stays unchanged', async () => {
    for (const layout of ['3', '4']) {
      const path = newPath()
      await openLmdb({ path }).close()
      const before = environment(path)
      await before.put(layoutKey, Buffer.from(layout))
      await before.close()
      const message = new RegExp(
        `has data layout ${layout}, and this version reads layout ${plainLayout} only`,
      )
      assert.throws(() => openLmdb({ path }), message)
      const both = `has data layout ${layout}, and this version reads layout ${plainLayout} and ${loggedLayout} only`
      assert.throws(() => openLogged({ path }), new RegExp(both))
      const after = environment(path)
      assert.equal(after.get(layoutKey)?.toString(), layout)
      await after.close()
    }
  })

  test('explains why a directory cannot be opened', async () => {
    const file = newPath()
    writeFileSync(file, '')
    const garbage = newPath()
    mkdirSync(garbage)
    writeFileSync(join(garbage, 'data.mdb'), 'not a database '.repeat(1000))
    const foreign = newPath()
    const other = open({ path: foreign, noSubdir: false })
    await other.put('someone', 'else')
    await other.close()
    for (const path of [file, join(file, 'below'), garbage, foreign]) {
      assert.throws(
        () => openLmdb({ path }),
        (error: unknown) => error instanceof StoreUnavailableError && error.message.includes(path),
      )
    }
  })

  test('grows past its initial address space', async () => {
    const store = openLmdb({ path: newPath(), mapSizeBytes: 1 << 20 })
    const value = new Uint8Array(1 << 20).fill(9)
    for (let number = 0; number < 8; number++) {
      await store.transact(() => ({ result: 0, writes: [{ key: bytes(`n${number}`), value }] }))
    }
    assert.deepEqual(
      store.read(view => view.get(bytes('n7'))),
      value,
    )
    await store.close()
  })

  test('fills the pages of rows whose keys ascend in many sets', async () => {
    const path = newPath()
    const store = openLmdb({ path, durable: false })
    const value = new Uint8Array(80)
    let bytesWritten = 0
    for (let round = 0; round < 400; round++) {
      const writes: Write[] = []
      for (const [tag, numberBytes] of [
        ['D', 2],
        ['I', 4],
        ['J', 4],
      ] as const) {
        // The first set grows, and the keys of the other sets come after it.
        for (const set of round === 0 ? [0, 1, 2] : [0]) {
          for (let entry = 0; entry < 10; entry++) {
            const key = Buffer.alloc(1 + 8 + numberBytes + 8)
            key.write(tag)
            key[8 + numberBytes] = set
            key.writeUInt32BE(round * 10 + entry, key.length - 4)
            writes.push({ key, value })
            bytesWritten += key.length + value.length
          }
        }
      }
      await store.transact(() => ({ result: undefined, writes }))
    }
    await store.close()
    // The rest is the overhead of LMDB, and pages that were free after the last commit.
    assert.ok(statSync(join(path, 'data.mdb')).size < 1.35 * bytesWritten)
  })
})

describe('commits of lmdb', () => {
  test('limits the size of a commit, and commits the rest right after it', async () => {
    const path = newPath()
    const store = openLmdb({ path })
    // The transactions of one commit run without a microtask in between.
    let commit = 0
    const ran: number[] = []
    const many = (job: number) => () => {
      if (ran.at(-1) !== commit) queueMicrotask(() => commit++)
      ran.push(commit)
      const writes = Array.from({ length: 2500 }, (_, at) => put(`${job}/${at}`, `${job}`))
      return { result: job, writes }
    }
    const results = await Promise.all([0, 1, 2, 3, 4].map(job => store.transact(many(job))))
    assert.deepEqual(results, [0, 1, 2, 3, 4])
    assert.deepEqual(ran, [0, 0, 1, 1, 2])
    assert.equal(list(store).length, 5 * 2500)
    await store.close()
  })

  test('halves a batch when evaluation and disk would wait for each other', async () => {
    const clock = { ms: 0, now: () => epoch, elapsedMs: () => clock.ms }
    const path = newPath()
    const store = openLmdb({ path, clock })
    await store.transact(write(put('a', '1')))
    // The transactions of one commit run without a microtask in between.
    const ran: string[] = []
    const noting = (key: string) => {
      const work = write(put(key, '1'))
      return () => {
        ran.push(key)
        queueMicrotask(() => ran.push('later'))
        return work()
      }
    }
    const works = [store.transact(noting('b'))]
    clock.ms = 10
    for (const key of ['c', 'd', 'e']) works.push(store.transact(noting(key)))
    await Promise.all(works)
    assert.deepEqual(ran, ['b', 'c', 'later', 'later', 'd', 'e', 'later', 'later'])
    await store.close()
    const again = openLmdb({ path })
    assert.deepEqual(list(again), ['a=1', 'b=1', 'c=1', 'd=1', 'e=1'])
    await again.close()
  })

  test('listeners are notified of own commits after the callers', async () => {
    let look = () => {}
    const every = (_ms: number, callback: () => void) => {
      look = callback
      return () => {}
    }
    const store = openLmdb({ path: newPath(), durable: false, timers: { ...systemTimers, every } })
    const order: string[] = []
    // Like a stream: at the next turn of the event loop.
    store.watch(() => setImmediate(() => order.push('heard')))
    const count = 1000
    for (let number = 0; number < count; number++) {
      let isOver = false
      const commit = store.transact(write(put(`own${number}`, 'y'))).then(() => {
        isOver = true
        order.push('committed')
      })
      while (!isOver) {
        look()
        await new Promise(setImmediate)
      }
      await commit
    }
    await new Promise(setImmediate)
    await store.close()
    assert.deepEqual(order, Array(count).fill(['committed', 'heard']).flat())
  })
})

describe('several processes over one lmdb', () => {
  test('reads and is notified of the commits of another process', async () => {
    const path = newPath()
    const store = openLmdb({ path })
    const count = 20
    const heardAll = new Promise<void>(resolve => {
      store.watch(() => {
        if (has(store, String(count - 1))) resolve()
      })
    })
    const { ended, lines } = spawnWriter(path, count)
    let printed = 0
    for await (const line of lines) {
      assert.ok(has(store, line), `${line} is visible once it is committed`)
      printed++
    }
    assert.equal(printed, count)
    assert.equal(await ended, 0)
    await heardAll
    await store.close()
  })

  test('writes at the same time as another process', async () => {
    const path = newPath()
    const store = openLmdb({ path })
    const { child, ended, lines } = spawnWriter(path, 200)
    let isRunning = true
    child.once('close', () => {
      isRunning = false
    })
    lines.resume()
    let own = 0
    while (isRunning) {
      await store.transact(write(put(`own${own}`, 'y')))
      own++
    }
    assert.equal(await ended, 0)
    assert.equal(list(store, 'n', 'o').length, 200)
    assert.equal(list(store, 'own', 'p').length, own)
    await store.close()
  })

  test('two stores on one directory increment a counter without a lost update', async () => {
    const path = newPath()
    const stores = [openLmdb({ path }), openLmdb({ path })]
    const increment = (store: KeyValueStore) =>
      store.transact(view => {
        const next = Number(text(view.get(bytes('c'))) ?? 0) + 1
        return { result: 0, writes: [put('c', String(next))] }
      })
    await Promise.all(
      Array.from({ length: 200 }, (_, index) => increment(stores[index % 2] as KeyValueStore)),
    )
    for (const store of stores) assert.deepEqual(list(store), ['c=200'])
    for (const store of stores) await store.close()
  })

  test('has every acknowledged commit after kill -9', async () => {
    const path = newPath()
    const { child, ended, lines } = spawnWriter(path, Number.MAX_SAFE_INTEGER)
    const printed: string[] = []
    for await (const line of lines) {
      printed.push(line)
      if (printed.length === 100) child.kill('SIGKILL')
    }
    assert.equal(await ended, 'SIGKILL')
    assert.ok(printed.length >= 100)
    const store = openLmdb({ path })
    for (const number of printed) assert.ok(has(store, number), `${number} is there`)
    await store.transact(write(put('after', '1')))
    await store.close()
  })
})

describe('lmdb on a full disk', () => {
  test('survives a full disk: writes that do not fit fail, and other writes succeed', {
    skip: process.platform === 'win32',
  }, async () => {
    const script = join(import.meta.dirname, 'lmdb-full-child.ts')
    const limited = ['-c', 'ulimit -f 8000; exec "$0" "$@"', process.execPath, script, newPath()]
    const child = spawn('sh', limited, { stdio: ['ignore', 'pipe', 'pipe'] })
    let complaints = ''
    child.stderr.setEncoding('utf8').on('data', text => {
      complaints += text
    })
    const printed = await Array.fromAsync(createInterface({ input: child.stdout }))
    // The writers got the error. Without handling, lmdb-js would print a stack trace.
    assert.equal(complaints, '')
    assert.deepEqual(printed, ['StoreUnavailableError', 'StoreUnavailableError', 'before=1 later=1'])
  })

  test('a write that the disk may have no room for is not tried, and a batch is committed completely or not at all', async () => {
    let free = Number.POSITIVE_INFINITY
    const store = openLmdb({ path: newPath(), clock: stoppedClock, freeBytes: () => free })
    await store.transact(write(put('before', '1')))
    free = 17_000_000
    await store.transact(write(put('small', '1')))
    const large = { key: bytes('large'), value: new Uint8Array(1_000_000) }
    const rejected = await Promise.allSettled([
      store.transact(write(large)),
      store.transact(write(put('beside', '1'))),
    ])
    for (const each of rejected) {
      assert.equal(each.status, 'rejected')
      assert.ok(each.reason instanceof StoreUnavailableError)
      assert.equal(each.reason.outcome, 'not committed')
      assert.match(each.reason.message, /: the disk is full: 16 MB are free, 17 MB are needed$/)
    }
    free = 0
    await assert.rejects(store.transact(write(put('more', '1'))), StoreUnavailableError)
    assert.equal(await store.transact(() => ({ result: 'nothing to write', writes: [] })), 'nothing to write')
    free = Number.POSITIVE_INFINITY
    await store.transact(write(put('later', '1')))
    assert.equal(list(store).join(' '), 'before=1 later=1 small=1')
    await store.close()
  })
})
