// Tests of the contract of storage engines. Each engine runs them.

import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import {
  type Bytes,
  type KeyValueStore,
  keyBytesMax,
  type View,
  type Write,
} from '../../src/storage/kv/kv-contract.ts'
import { bytes, list, put, shown, text, top, write } from './bytes.ts'
import { modelTest } from './model.ts'

/**
 * Declares the suite. `open` opens a new, empty store. `prepares`: whether it supports transactions with a preparation.
 */
export function storeSuite(
  name: string,
  open: () => KeyValueStore | Promise<KeyValueStore>,
  { prepares = true }: { readonly prepares?: boolean } = {},
): void {
  describe(name, () => {
    let store: KeyValueStore
    beforeEach(async () => {
      store = await open()
    })
    afterEach(() => store.close())
    const current = () => store

    describe('get', () => testGet(current))
    describe('range', () => testRange(current))
    describe('transact', () => testTransact(current))
    if (prepares) describe('transact, prepared', () => testPrepare(current))
    describe('read', () => testRead(current))
    describe('watch', () => testWatch(current))
    describe('close', () => testClose(current))
    modelTest(open)
  })
}

type Current = () => KeyValueStore

function testGet(store: Current): void {
  test('returns the value, or undefined for an absent key', async () => {
    await store().transact(write(put('a', '1')))
    store().read(view => {
      assert.equal(text(view.get(bytes('a'))), '1')
      assert.equal(view.get(bytes('b')), undefined)
      assert.equal(view.get(bytes('')), undefined)
      assert.equal(view.get(new Uint8Array(keyBytesMax + 1)), undefined)
      assert.equal(view.get(new Uint8Array(10_000)), undefined)
    })
  })

  test('keeps empty values, all bytes, long keys and large values', async () => {
    const all = Uint8Array.from({ length: 256 }, (_, index) => index)
    const long = new Uint8Array(keyBytesMax).fill(0xff)
    const large = Uint8Array.from({ length: 1_048_576 }, (_, index) => (index * 7) % 251)
    await store().transact(() => ({
      result: undefined,
      writes: [
        { key: bytes('empty'), value: bytes('') },
        { key: all, value: all },
        { key: long, value: large },
      ],
    }))
    const got = store().read(view => [bytes('empty'), all, long].map(key => view.get(key)))
    assert.deepEqual(got, [bytes(''), all, large])
    const end = new Uint8Array(keyBytesMax + 100).fill(0xff)
    const entries = store().read(view => [...view.range({ start: all, end })])
    assert.deepEqual(
      entries.map(entry => entry.key),
      [all, bytes('empty'), long],
    )
    assert.deepEqual(entries[2]?.value, large)
  })

  test('a cached value is returned itself if it equals the stored value', async () => {
    const key = bytes('known')
    for (const size of [0, 1, 64, 300, 40_000, 200_000]) {
      const value = new Uint8Array(size).fill(1)
      await store().transact(() => ({ result: 0, writes: [{ key, value }] }))
      const known = store().read(view => view.get(key)) as Uint8Array
      const others = [known.slice(1), new Uint8Array(size + 1).fill(1), known.slice().fill(2, -1)]
      store().read(view => {
        assert.equal(view.get(key, known), known)
        for (const other of others.filter(({ length }) => length > 0)) {
          const found = view.get(key, other)
          assert.notEqual(found, other)
          assert.deepEqual(found, value)
        }
        assert.equal(view.get(bytes('nothing'), known), undefined)
        assert.equal(view.get(bytes(''), known), undefined)
      })
    }
  })

  test('arrays belong to the caller: they outlive the view and may be changed', async () => {
    const given = bytes('given')
    for (const size of [1, 64, 65, 2048, 2049, 40_000, 200_000]) {
      const key = bytes(`size ${size}`)
      await store().transact(() => ({ result: 0, writes: [{ key, value: new Uint8Array(size).fill(1) }] }))
      const first = store().read(view => view.get(key))
      const second = store().read(view => [...view.range({ start: key, end: top, limit: 1 })][0]?.value)
      store().read(view => view.get(bytes('size 1')))
      assert.deepEqual(first, new Uint8Array(size).fill(1))
      first?.fill(2)
      assert.deepEqual(second, new Uint8Array(size).fill(1))
      assert.deepEqual(
        store().read(view => view.get(key)),
        new Uint8Array(size).fill(1),
      )
    }
    await store().transact(() => ({ result: 0, writes: [{ key: bytes('k'), value: given }] }))
    given.fill(0)
    assert.equal(text(store().read(view => view.get(bytes('k')))), 'given')
  })
}

/** The order of a range, its bounds and its limit: `modelTest`. */
function testRange(store: Current): void {
  test('bounds need not be keys, and may be empty or longer than a key', async () => {
    await store().transact(write(put('b', '1'), put('d', '2'), put('f', '3')))
    assert.deepEqual(list(store(), 'a', 'c'), ['b=1'])
    assert.deepEqual(list(store(), 'c', 'e', { reverse: true }), ['d=2'])
    assert.deepEqual(list(store(), 'g', 'z'), [])
    assert.deepEqual(list(store(), 'g', 'z', { reverse: true }), [])
    assert.deepEqual(list(store(), 'A', 'B', { reverse: true }), [])
    assert.deepEqual(list(store()), ['b=1', 'd=2', 'f=3'])
    assert.deepEqual(list(store(), '', top, { reverse: true }), ['f=3', 'd=2', 'b=1'])
    assert.deepEqual(list(store(), `b${'x'.repeat(5000)}`, `f${'x'.repeat(5000)}`), ['d=2', 'f=3'])
  })

  test('is empty when it ends where it starts, or before', async () => {
    await store().transact(write(put('a', '1'), put('b', '2')))
    for (const reverse of [false, true]) {
      assert.deepEqual(list(store(), 'a', 'a', { reverse }), [])
      assert.deepEqual(list(store(), 'b', 'a', { reverse }), [])
      assert.deepEqual(list(store(), '', '', { reverse }), [])
      assert.deepEqual(list(store(), 'a', '', { reverse }), [])
    }
  })

  test('can be stopped early, read twice, and nested', async () => {
    await store().transact(write(put('a', '1'), put('b', '2'), put('c', '3')))
    const seen = store().read(view => {
      const all = view.range({ start: bytes(''), end: top })
      const pairs: string[] = []
      for (const outer of all) {
        for (const inner of all) {
          if (text(inner.key) === 'c') break
          pairs.push(`${text(outer.key)}${text(inner.key)}${text(view.get(bytes('c')))}`)
        }
        if (text(outer.key) === 'b') break
      }
      return pairs
    })
    assert.deepEqual(seen, ['aa3', 'ab3', 'ba3', 'bb3'])
  })

  test('an unfinished range does not affect later reads, which see later commits', async () => {
    await store().transact(write(put('a', '1'), put('b', '2')))
    const iterator = store().read(view => {
      const entries = view.range({ start: bytes(''), end: top })[Symbol.iterator]()
      entries.next()
      return entries
    })
    await store().transact(write(put('c', '3')))
    assert.deepEqual(list(store()), ['a=1', 'b=2', 'c=3'])
    assert.notEqual(text(tryNext(iterator)), 'b')
  })

  test('walks over many entries and after many that were deleted', async () => {
    const count = 20_000
    const key = (index: number) => bytes(String(index).padStart(8, '0'))
    const all = Array.from({ length: count }, (_, index) => ({ key: key(index), value: bytes('v') }))
    await store().transact(() => ({ result: 0, writes: all }))
    await store().transact(() => ({
      result: 0,
      writes: all.filter((_, index) => index % 10 > 0).map(({ key }) => ({ key, value: undefined })),
    }))
    const left = store().read(view => [...view.range({ start: bytes(''), end: top })].length)
    assert.equal(left, count / 10)
  })
}

/** The key of the next entry; undefined without a next entry, or if the view is invalid. */
function tryNext(iterator: Iterator<{ key: Bytes }>): Bytes | undefined {
  try {
    const next = iterator.next()
    return next.done ? undefined : next.value.key
  } catch {
    return undefined
  }
}

function testTransact(store: Current): void {
  test('returns the result of the transaction', async () => {
    assert.equal(await store().transact(() => ({ result: 42, writes: [] })), 42)
    assert.equal(await store().transact(() => ({ result: undefined, writes: [] })), undefined)
  })

  test('transactions see all earlier transactions, and readers see complete commits only', async () => {
    const seen: (string | undefined)[] = []
    const append = (letter: string) =>
      store().transact(view => {
        const before = text(view.get(bytes('k'))) ?? ''
        const listed = shown(view.range({ start: bytes('k'), end: bytes('l') }))
        assert.deepEqual(listed, before === '' ? [] : [`k=${before}`])
        return { result: before, writes: [put('k', before + letter), put('twin', before + letter)] }
      })
    const works = ['a', 'b', 'c', 'd'].map(append)
    assert.deepEqual(list(store()), [], 'nothing is visible in the turn of the call')
    for (const work of works) seen.push(await work)
    assert.deepEqual(seen, ['', 'a', 'ab', 'abc'])
    assert.deepEqual(list(store()), ['k=abcd', 'twin=abcd'])
  })

  test('transactions of one batch see the writes and deletions of earlier ones, by every kind of read', async () => {
    const letters = ['a', 'b', 'c']
    const expected = new Map<string, string>()
    const sorted = () => [...expected].map(([key, value]) => `${key}=${value}`).sort()
    const works = Array.from({ length: 300 }, (_, number) =>
      store().transact(view => {
        const writes: Write[] = []
        const asked = letters[number % 3] as string
        assert.equal(text(view.get(bytes(asked))), expected.get(asked), `${asked} of work ${number}`)
        const known = bytes(expected.get(asked) ?? '')
        if (expected.has(asked)) assert.equal(view.get(bytes(asked), known), known)
        if (number % 7 === 0) assert.deepEqual(shown(view.range({ start: bytes(''), end: top })), sorted())
        for (let at = 0; at < number % 4; at++) {
          const key = letters[(number * (at + 5) + (number >> 3)) % 3] as string
          const isDeleted = (number + at) % 5 === 0
          writes.push(isDeleted ? { key: bytes(key), value: undefined } : put(key, `${number}/${at}`))
        }
        for (const { key, value } of writes) {
          if (value === undefined) expected.delete(text(key) as string)
          else expected.set(text(key) as string, text(value) as string)
        }
        return { result: undefined, writes }
      }),
    )
    await Promise.all(works)
    assert.deepEqual(list(store()), sorted())
  })

  test('a thousand concurrent increments make a thousand', async () => {
    const key = bytes('counter')
    const results = await Promise.all(
      Array.from({ length: 1000 }, () =>
        store().transact(view => {
          const next = Number(text(view.get(key)) ?? 0) + 1
          return { result: next, writes: [{ key, value: bytes(String(next)) }] }
        }),
      ),
    )
    assert.deepEqual(
      results,
      Array.from({ length: 1000 }, (_, index) => index + 1),
    )
    assert.equal(text(store().read(view => view.get(key))), '1000')
  })

  test('a transaction that throws rejects with its error, writes nothing and does not affect others', async () => {
    const error = new RangeError('no')
    const outcomes = await Promise.allSettled([
      store().transact(write(put('a', '1'))),
      store().transact(() => {
        throw error
      }),
      store().transact(view => ({ result: text(view.get(bytes('a'))), writes: [put('b', '2')] })),
    ])
    assert.deepEqual(outcomes[1], { status: 'rejected', reason: error })
    assert.deepEqual(outcomes[2], { status: 'fulfilled', value: '1' })
    assert.deepEqual(list(store()), ['a=1', 'b=2'])
  })

  test('a transaction with a change that cannot be applied writes nothing at all', async () => {
    for (const key of [bytes(''), new Uint8Array(keyBytesMax + 1)]) {
      const outcomes = await Promise.allSettled([
        store().transact(write(put('bad', '1'), { key, value: bytes('x') })),
        store().transact(write(put('good', '1'))),
      ])
      assert.deepEqual(
        outcomes.map(outcome => outcome.status),
        ['rejected', 'fulfilled'],
      )
    }
    assert.deepEqual(list(store()), ['good=1'])
  })

  test('the last change of a key wins, and deleting an absent key is allowed', async () => {
    await store().transact(write(put('a', '1'), put('a', '2'), { key: bytes('b'), value: undefined }))
    assert.deepEqual(list(store()), ['a=2'])
    await store().transact(write({ key: bytes('a'), value: undefined }, put('a', '3'), put('c', '4')))
    await store().transact(write(put('c', '5'), { key: bytes('c'), value: undefined }))
    assert.deepEqual(list(store()), ['a=3'])
  })
}

function testPrepare(store: Current): void {
  test('nothing is committed between the preparation and the transaction', async () => {
    const append = (letter: string) =>
      store().transact(view => ({
        result: undefined,
        writes: [put('k', (text(view.get(bytes('k'))) ?? '') + letter)],
      }))
    const current = () => text(store().read(view => view.get(bytes('k'))))
    let prepared: string | undefined
    const others = [append('a'), append('b')]
    const own = store().transact(
      view => {
        assert.equal(text(view.get(bytes('k'))), prepared)
        return { result: prepared, writes: [put('k', `${prepared}c`)] }
      },
      async () => {
        others.push(append('d'))
        await new Promise(resolve => setImmediate(resolve))
        prepared = current()
      },
    )
    others.push(append('e'))
    assert.equal(await own, 'ab')
    await Promise.all(others)
    assert.match(current() as string, /^abc(de|ed)$/)
  })

  test('a preparation that fails rejects its own transaction only', async () => {
    const error = new RangeError('no')
    const outcomes = await Promise.allSettled([
      store().transact(write(put('a', '1'))),
      store().transact(write(put('b', '2')), () => Promise.reject(error)),
      store().transact(write(put('c', '3'))),
    ])
    assert.deepEqual(outcomes[1], { status: 'rejected', reason: error })
    assert.deepEqual(list(store()), ['a=1', 'c=3'])
  })
}

function testRead(store: Current): void {
  test('the number of a state changes with its rows', async () => {
    const stateNow = () => store().read(view => view.state)
    await store().transact(write(put('a', '1')))
    const first = stateNow()
    assert.equal(stateNow(), first)
    await store().transact(write(put('a', '2')))
    if (first !== undefined) assert.notEqual(stateNow(), first)
  })

  test('a view is invalid after its read or work', async () => {
    await store().transact(write(put('a', '1')))
    let kept: View | undefined
    store().read(view => {
      kept = view
    })
    assert.throws(() => kept?.get(bytes('a')), { name: 'InvariantError' })
    await store().transact(view => {
      kept = view
      return { result: 0, writes: [] }
    })
    assert.throws(() => [...(kept as View).range({ start: bytes(''), end: top })], { name: 'InvariantError' })
  })

  test('an error of a read is passed to the caller, and later reads work', async () => {
    await store().transact(write(put('a', '1'), put('b', '2')))
    assert.throws(
      () =>
        store().read(view => {
          for (const entry of view.range({ start: bytes(''), end: top }))
            throw new RangeError(text(entry.key))
        }),
      { name: 'RangeError', message: 'a' },
    )
    assert.deepEqual(list(store()), ['a=1', 'b=2'])
  })

  test('a nested read sees the same state', async () => {
    await store().transact(write(put('a', '1')))
    const seen = store().read(view => [text(view.get(bytes('a'))), list(store()), text(view.get(bytes('a')))])
    assert.deepEqual(seen, ['1', ['a=1'], '1'])
  })
}

function testWatch(store: Current): void {
  test('is notified of a commit when reads see it, until it is stopped', async () => {
    const heard: string[][] = []
    let wake = () => {}
    const stop = store().watch(() => {
      heard.push(list(store()))
      wake()
    })
    const next = () =>
      new Promise<void>(resolve => {
        wake = resolve
      })
    const first = next()
    await store().transact(write(put('a', '1')))
    await first
    const second = next()
    await store().transact(() => ({ result: 0, writes: [{ key: bytes('a'), value: undefined }] }))
    await second
    assert.deepEqual(heard, [['a=1'], []])
    stop()
    stop()
    const heardLast = new Promise<void>(resolve => {
      store().watch(resolve)
    })
    await store().transact(write(put('b', '2')))
    await heardLast
    assert.equal(heard.length, 2)
  })

  test('is not notified of transactions without changes', async () => {
    let calls = 0
    let wake = () => {}
    store().watch(() => {
      calls++
      wake()
    })
    await store().transact(() => ({ result: 0, writes: [] }))
    await store()
      .transact(() => {
        throw new Error('no')
      })
      .catch(() => {})
    const heard = new Promise<void>(resolve => {
      wake = resolve
    })
    await store().transact(write(put('a', '1')))
    await heard
    assert.equal(calls, 1)
  })
}

function testClose(store: Current): void {
  test('waits for running commits, then rejects everything', async () => {
    const order: string[] = []
    const work = store()
      .transact(write(put('a', '1')))
      .then(() => order.push('committed'))
    const closed = store()
      .close()
      .then(() => order.push('closed'))
    await assert.rejects(store().transact(write(put('b', '2'))), { name: 'StoreUnavailableError' })
    await Promise.all([work, closed])
    assert.deepEqual(order, ['committed', 'closed'])
    assert.throws(() => store().read(() => 0), { name: 'StoreUnavailableError' })
    await store().close()
  })
}
