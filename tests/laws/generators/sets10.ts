// Sets of version 10 over the collection `Item`.

import { fc } from '../../support/fast-check.ts'
import { groups } from './items.ts'

const base = fc.oneof(
  fc.constant('Item.all()'),
  fc.constantFrom(...groups).map(group => `Item.byGroup("${group}")`),
  fc.constantFrom(...groups).map(group => `Item.byGroupSorted("${group}")`),
  fc.constantFrom(...groups).map(group => `Item.byGroupTags("${group}")`),
  fc.constantFrom('a', 'b', 'c').map(tag => `Item.byTag("${tag}")`),
  fc.integer({ min: 0, max: 5 }).map(n => `Item.sorted({ from: ${n} })`),
  fc.integer({ min: 0, max: 5 }).map(n => `Item.byGroupSorted("x", { to: ${n} })`),
)

const predicate = fc.oneof(
  fc.integer({ min: 0, max: 5 }).map(n => `.n >= ${n}`),
  fc.constantFrom(...groups).map(group => `.g != "${group}"`),
  fc.constantFrom('.extra == null', '.double > 4', 'd => d.following.exists()', 'd => d.tags.includes("a")'),
)

const count = fc.integer({ min: 0, max: 4 })
const order = fc.constantFrom('.n', 'desc(.n)', '.g, desc(.n)', 'desc(.double)')

/** A set of documents, as text. */
export const documentSets: fc.Arbitrary<string> = fc.letrec<{ set: string }>(tie => ({
  set: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    base,
    fc.tuple(tie('set'), predicate).map(([set, test]) => `${set}.where(${test})`),
    fc.tuple(tie('set'), order).map(([set, by]) => `${set}.order(${by})`),
    tie('set').map(set => `${set}.reverse()`),
    fc.tuple(tie('set'), count).map(([set, n]) => `${set}.take(${n})`),
    fc.tuple(tie('set'), count).map(([set, n]) => `${set}.drop(${n})`),
    fc.tuple(tie('set'), tie('set')).map(([left, right]) => `${left}.concat(${right})`),
    tie('set').map(set => `${set}.flatMap(d => Item.byGroup(d.g))`),
    tie('set').map(
      set => `${set}.flatMap(d => { let tag = d.tags.first() ?? "a"; Item.byTag(tag).take(2) })`,
    ),
  ),
})).set

/** What a query makes of a set of documents: a text with `SET` in place of the set. */
export const projections: fc.Arbitrary<string> = fc.constantFrom(
  'SET.map(.id)',
  'SET.map(.n)',
  '(SET) { id, n, g }',
  '(SET) { n, following { n } }',
  'SET.map(d => { id: d.id, same: Item.byGroup(d.g).count() })',
  'SET.map(d => { n: d.n, others: Item.byGroup(d.g).where(.n > d.n).map(.id).toArray() })',
  'SET.map(d => [d.double, d.following?.n])',
)
