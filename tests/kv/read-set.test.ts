// A read set is valid for another state exactly if the same reads give the same results there. The memory of recent
// writes never reports "unchanged" for a read that has changed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isDeepStrictEqual } from 'node:util'
import type { Bytes, Entry, KeyRange, View, Write } from '../../src/storage/kv/kv-contract.ts'
import { PackedReads, packReads } from '../../src/storage/kv/packed-reads.ts'
import { isReadSetValid, type ReadSet, RecordingView, sizeOf } from '../../src/storage/kv/read-set.ts'
import { RecentWrites } from '../../src/storage/kv/recent-writes.ts'
import { SortedEntries } from '../../src/storage/kv/sorted-entries.ts'
import { fc } from '../support/fast-check.ts'
import { bytes, put, top } from './bytes.ts'

class State implements View {
  readonly #entries = new SortedEntries<Entry>()

  apply(writes: readonly Write[]): this {
    for (const { key, value } of writes) {
      if (value) this.#entries.set({ key, value })
      else this.#entries.delete(key)
    }
    return this
  }

  get(key: Bytes): Bytes | undefined {
    return this.#entries.get(key)?.value
  }

  *range({ end, limit = Number.POSITIVE_INFINITY, reverse, start }: KeyRange): Generator<Entry> {
    let left = limit
    if (left === 0) return
    for (const entry of this.#entries[reverse ? 'descending' : 'ascending'](start, end)) {
      yield entry
      if (--left === 0) return
    }
  }
}

const key = fc.constantFrom('a', 'b', 'ba', 'c', 'd', 'da').map(bytes)
const value = fc.constantFrom('1', '2', 'x'.repeat(5000), 'y'.repeat(5000)).map(bytes)
const writes = fc.array(fc.record({ key, value: fc.option(value, { nil: undefined }) }), { maxLength: 4 })
const read = fc.oneof(
  key.map(key => ({ key })),
  fc.record({
    range: fc.record({ start: key, end: fc.oneof(key, fc.constant(top)), reverse: fc.boolean() }),
    limit: fc.option(fc.nat(3), { nil: undefined }),
    // The number of entries after which the reader stops.
    stop: fc.option(fc.integer({ min: 1, max: 3 }), { nil: undefined }),
  }),
)
type Read = typeof read extends fc.Arbitrary<infer T> ? T : never

/** Returns the results of reads. */
function learn(view: View, reads: readonly Read[]): unknown[] {
  return reads.map(one => {
    if ('key' in one) return view.get(one.key)
    const found: Entry[] = []
    const range = one.limit === undefined ? one.range : { ...one.range, limit: one.limit }
    for (const entry of view.range(range)) {
      found.push(entry)
      if (found.length === one.stop) break
    }
    return found
  })
}

test('a read set is valid for a state exactly if the reads give the same results', () => {
  fc.assert(
    fc.property(writes, writes, fc.array(read, { maxLength: 4 }), (first, second, reads) => {
      const before = new State().apply(first)
      const after = new State().apply(first).apply(second)
      const noting = new RecordingView(before)
      const learned = learn(noting, reads)
      const noted = structuredClone(noting.reads())
      assert.ok(isReadSetValid(noted, before))
      assert.ok(sizeOf(noted) >= 0)
      assert.equal(isReadSetValid(noted, after), isDeepStrictEqual(learn(after, reads), learned))
    }),
    { numRuns: 500 },
  )
})

test('the memory of recent writes never hides a difference', () => {
  fc.assert(
    fc.property(
      fc.array(writes, { minLength: 1, maxLength: 5 }),
      fc.nat(4),
      fc.array(read, { maxLength: 4 }),
      (commits, seen, reads) => {
        const recent = new RecentWrites()
        const state = new State()
        let noted: ReadSet = { keys: new Map(), ranges: [] }
        const since = Math.min(seen, commits.length - 1)
        let learned: unknown[] = []
        for (const [index, commit] of commits.entries()) {
          if (index === since) {
            const noting = new RecordingView(state)
            learned = learn(noting, reads)
            noted = noting.reads()
          }
          state.apply(commit)
          recent.add(index + 1, index, commit)
        }
        const isSame = isDeepStrictEqual(learn(state, reads), learned)
        const written = recent.changedReads(noted, since, commits.length)
        assert.ok(written !== undefined)
        assert.equal(isReadSetValid(written, state), isSame)
        const packed = new PackedReads(packReads(noted))
        assert.ok(sizeOf(packed) === sizeOf(noted))
        assert.equal(isReadSetValid(packed, state), isSame)
        assert.equal(
          isReadSetValid(recent.changedReads(packed, since, commits.length) ?? packed, state),
          isSame,
        )
      },
    ),
    { numRuns: 500 },
  )
})

/** Describes in a word what the memory reports about `reads`. */
function verdict(recent: RecentWrites, reads: ReadSet, since: number, now: number): string {
  const written = recent.changedReads(reads, since, now)
  if (written === undefined) return 'unknown'
  return written.keys.size + written.ranges.length === 0 ? 'unwritten' : 'written'
}

test('after a gap in the remembered commits, everything is unknown', () => {
  const noting = new RecordingView(new State())
  noting.get(bytes('a'))
  const reads = noting.reads()
  const recent = new RecentWrites()
  assert.equal(verdict(recent, reads, 5, 6), 'unknown')
  recent.add(10, 5, [put('b', '1')])
  assert.equal(verdict(recent, reads, 5, 10), 'unwritten')
  assert.equal(verdict(recent, reads, 4, 10), 'unknown', 'from before it')
  assert.equal(verdict(recent, reads, 5, 12), 'unknown', 'another process has committed')
  recent.add(20, 12, [put('c', '1')])
  assert.equal(verdict(recent, reads, 5, 20), 'unknown', 'in between')
  assert.equal(verdict(recent, reads, 12, 20), 'unwritten')
  recent.add(30, 20, [put('a', '1')])
  assert.equal(verdict(recent, reads, 12, 30), 'written')
  assert.equal(verdict(recent, reads, 30, 30), 'unwritten')
  recent.clear()
  assert.equal(verdict(recent, reads, 12, 30), 'unknown')
})

function readOf(...ranges: readonly (readonly [start: string, end: string])[]): ReadSet {
  const noting = new RecordingView(new State())
  for (const [start, end] of ranges) {
    for (const _ of noting.range({ start: bytes(start), end: bytes(end) })) assert.fail('it is empty')
  }
  return noting.reads()
}

test('only the written ranges of a packed read set are decoded, also those that contain others', () => {
  const name = (at: number) => String(at).padStart(6, '0')
  const many = Array.from({ length: 3_000 }, (_, at) => [name(at), name(at).padEnd(7, '~')] as const)
  const [outer, beside] = [
    ['000500', '000700'],
    ['1', '2'],
  ] as const
  const packed = new PackedReads(packReads(readOf(...many, outer, beside)))
  const recent = new RecentWrites()
  for (let time = 1; time <= 20; time++) recent.add(time, time - 1, [put(`${name(time + 590)}5`, '')])
  const written = recent.changedReads(packed, 18, 20)
  assert.deepEqual(
    new Set(written?.ranges),
    new Set(readOf(outer, ...many.slice(609, 611)).ranges),
    'the ranges with the keys of the last two commits',
  )
  assert.equal(recent.changedReads(packed, 0, 20)?.ranges.length, 21)
  assert.equal(recent.changedReads(packed, 20, 20)?.ranges.length, 0)
  recent.add(21, 20, [put('3', '')])
  assert.equal(recent.changedReads(packed, 20, 21)?.ranges.length, 0)
})

test('keys of a packed read set are decoded with their values', () => {
  const rows = [put('a', '1'), put('long', 'x'.repeat(5000)), put('empty', '')]
  const state = new State().apply(rows)
  const noting = new RecordingView(state)
  for (const key of ['a', 'long', 'empty', 'none']) noting.get(bytes(key))
  const packed = new PackedReads(packReads(noting.reads()))
  assert.ok(isReadSetValid(packed, state))
  for (const [key, value] of [
    ['a', '2'],
    ['long', 'y'.repeat(5000)],
    ['empty', 'x'],
    ['none', ''],
  ] as const) {
    const changed = new State().apply(rows).apply([put(key, value)])
    assert.ok(!isReadSetValid(packed, changed), key)
  }
  const recent = new RecentWrites()
  recent.add(1, 0, [put('long', '')])
  assert.deepEqual([...(recent.changedReads(packed, 0, 1)?.keys.keys() ?? [])], ['long'])
})

test('writes before a gap do not count after it', () => {
  const recent = new RecentWrites()
  const noting = new RecordingView(new State())
  noting.get(bytes('a'))
  recent.add(1, 0, [put('a', '')])
  assert.equal(verdict(recent, noting.reads(), 0, 1), 'written')
  recent.add(3, 2, [put('b', '')])
  assert.equal(verdict(recent, noting.reads(), 2, 3), 'unwritten')
  recent.clear()
  recent.add(4, 3, [put('b', '')])
  assert.equal(verdict(recent, noting.reads(), 3, 4), 'unwritten')
  recent.add(5, 4, [put('a', '')])
  assert.equal(verdict(recent, noting.reads(), 3, 5), 'written')
})

test('the oldest commits are forgotten', () => {
  const recent = new RecentWrites()
  const key = new RecordingView(new State())
  key.get(bytes('unwritten'))
  const range = readOf(['x', 'y'])
  for (let time = 1; time <= 10_000; time++) recent.add(time, time - 1, [put(`k${time}`, '')])
  assert.equal(verdict(recent, key.reads(), 1000, 10_000), 'unknown')
  assert.equal(verdict(recent, key.reads(), 6000, 10_000), 'unwritten')
  assert.equal(verdict(recent, range, 1000, 10_000), 'unknown')
  assert.equal(verdict(recent, range, 6000, 10_000), 'unwritten')
})

test('long keys are remembered exactly for the last commits', () => {
  const recent = new RecentWrites()
  const name = (commit: number, at: number) => `${commit}/${at}/`.padEnd(1500, 'k')
  for (let commit = 1; commit <= 40; commit++) {
    const keys = Array.from({ length: 100 }, (_, at) => name(commit, at))
    recent.add(
      commit,
      commit - 1,
      keys.map(key => put(key, '')),
    )
    const within = keys.map(key => readOf([key, `${key}0`]))
    for (const range of within) assert.equal(verdict(recent, range, commit - 1, commit), 'written')
    const beside = readOf([`${name(commit, 7)}0`, `${name(commit, 7)}1`])
    assert.equal(verdict(recent, beside, Math.max(0, commit - 4), commit), 'unwritten')
  }
  assert.equal(verdict(recent, readOf(['1x', '1y']), 10, 40), 'written', 'it may have been')
  assert.equal(verdict(recent, readOf(['x', 'y']), 10, 40), 'unwritten', 'no key begins like that')
})

test('the keys and kinds of keys of large commits are known', () => {
  const recent = new RecentWrites()
  recent.add(
    1,
    0,
    Array.from({ length: 1000 }, (_, at) => put(`kind${at}`, '')),
  )
  recent.add(2, 1, [put('other', '')])
  const [same, small, none] = [
    ['kx', 'ky'],
    ['o', 'p'],
    ['x', 'y'],
  ] as const
  assert.deepEqual(recent.changedReads(readOf(same, small, none), 0, 2)?.ranges, readOf(same, small).ranges)
  assert.deepEqual(recent.changedReads(readOf(same, small, none), 1, 2)?.ranges, readOf(small).ranges)
  const keyRead = (key: string) => {
    const noting = new RecordingView(new State())
    noting.get(bytes(key))
    return noting.reads()
  }
  assert.equal(verdict(recent, keyRead('kind7'), 0, 2), 'written')
  assert.equal(verdict(recent, keyRead('kind7'), 1, 2), 'unwritten')
  assert.equal(verdict(recent, keyRead('kind-of'), 0, 2), 'unwritten')
})

test('a range is known to be unwritten only if all commits since are remembered', () => {
  const recent = new RecentWrites()
  const within = { start: bytes('b'), end: bytes('c') }
  recent.add(1, 0, [put('a', '1'), put('ba', '1')])
  recent.add(2, 1, [put('a', '2'), put('c', '1')])
  recent.add(3, 2, [put('bz', '1')])
  const may = (since: number, now: number) => recent.mayHaveWritten(within, since, now)
  assert.deepEqual([may(0, 3), may(1, 3), may(2, 3), may(3, 3)], [true, true, true, false])
  recent.add(4, 3, [put('c', '2')])
  assert.deepEqual([may(3, 4), may(2, 4)], [false, true])
  assert.equal(may(3, 5), true, 'a commit of somebody else')
  recent.add(6, 5, [put('d', '1')])
  assert.deepEqual([may(5, 6), may(4, 6)], [false, true], 'what came before a gap')
  recent.add(
    7,
    6,
    Array.from({ length: 300 }, (_, n) => put(`d${n}`, '1')),
  )
  assert.equal(may(6, 7), false, 'of another kind, however many')
  recent.add(
    8,
    7,
    Array.from({ length: 300 }, (_, n) => put(`ba${n}`, '1')),
  )
  assert.equal(may(7, 8), true, 'of a large commit no keys are known')
  for (let time = 9; time < 300; time++) recent.add(time, time - 1, [put('c', '1')])
  assert.deepEqual([may(9, 299), may(100, 299)], [true, false], 'many commits are not gone through')
  recent.clear()
  assert.equal(may(299, 299), true)
})
