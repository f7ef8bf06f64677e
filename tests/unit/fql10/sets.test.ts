// Sets without documents: elements, pages and cursors.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { run } from './support.ts'

/** The elements of all pages of a set, read with its cursors. */
function pages(query: string): unknown[] {
  const all: unknown[] = []
  let page = run(`(${query}).paginate(2)`, { format: 'simple' }).data as { data: unknown[]; after?: string }
  for (;;) {
    all.push(page.data)
    if (page.after === undefined) return all
    page = run('Set.paginate(after)', { format: 'simple', arguments: { after: page.after } })
      .data as typeof page
  }
}

test('cursors continue sets of every kind', () => {
  const sets: readonly (readonly [string, unknown])[] = [
    ['[1, 2, 3].toSet()', [[1, 2], [3]]],
    ['Set.sequence(0, 3).reverse()', [[2, 1], [0]]],
    ['Set.single({ a: Time("2024-01-01T00:00:00Z") })', [[{ a: '2024-01-01T00:00:00Z' }]]],
    ['Set.sequence(0, 9).where(n => n % 3 == 0)', [[0, 3], [6]]],
    ['[2].map(k => Set.sequence(0, 3).map(n => n ** k)).first()!', [[0, 1], [4]]],
    ['Set.sequence(0, 3).map(Math.abs)', [[0, 1], [2]]],
    [
      'Set.sequence(1, 4).flatMap(n => Set.sequence(0, n))',
      [
        [0, 0],
        [1, 0],
        [1, 2],
      ],
    ],
    ['Set.sequence(1, 3).flatMap(n => Set.sequence(0, n)).reverse()', [[1, 0], [0]]],
    ['[1].toSet().concat([2, 3].toSet())', [[1, 2], [3]]],
    ['[1, 2].toSet().concat([].toSet())', [[1, 2], []]],
    ['Set.sequence(0, 9).drop(1).take(3)', [[1, 2], [3]]],
    ['Set.sequence(0, 9).take(3).reverse()', [[2, 1], [0]]],
    ['[3, 1, 2, 1].toSet().distinct()', [[1, 2], [3]]],
    ['[3, 1, 2].toSet().order(desc(n => n))', [[3, 2], [1]]],
    [
      '[{ a: 1 }, { a: 2 }, { a: 3 }].toSet() { a, b: .a + 1 }',
      [
        [
          { a: 1, b: 2 },
          { a: 2, b: 3 },
        ],
        [{ a: 3, b: 4 }],
      ],
    ],
  ]
  for (const [query, expected] of sets) assert.deepEqual(pages(query), expected, query)
})

test('cursors contain the template values that their lambdas use', () => {
  const query = { fql: ['Set.sequence(0, 3).map(n => n + ', { value: { '@int': '5' } }, ').paginate(2)'] }
  const { data } = run(query, { format: 'simple' }) as { data: { after: string } }
  const next = run('Set.paginate(after)', { format: 'simple', arguments: { after: data.after } })
  assert.deepEqual(next.data, { data: [7] })
})

test('texts that the service has not created are rejected as cursors', () => {
  const { after } = run('[1, 2].toSet().paginate(1)', { format: 'simple' }).data as { after: string }
  const changed = `${after.slice(0, 5)}${after[5] === 'A' ? 'B' : 'A'}${after.slice(6)}`
  for (const cursor of ['', 'hello', changed, after.slice(0, -2)]) {
    assert.equal(
      run('Set.paginate(c)', { format: 'simple', arguments: { c: cursor } }).error?.code,
      'invalid_cursor',
    )
  }
})

test('sets are equal if they are constructed in the same way', () => {
  const queries: readonly (readonly [string, boolean])[] = [
    ['[1, 2].toSet() == [1, 2].toSet()', true],
    ['[1, 2].toSet() == [1, 3].toSet()', false],
    ['let f = n => n; [1].toSet().map(f) == [1].toSet().map(f)', true],
  ]
  for (const [query, expected] of queries) assert.equal(run(query).data, expected, query)
})
