// Sets of version 4 over the collection `Item`. The last value of each element is the reference of its document, so
// that a test knows the document of each element.

import { fc } from '../../support/fast-check.ts'
import type { LawDatabase } from '../law.ts'
import { groups } from './items.ts'

/** An expression of version 4. */
export type Expression = Readonly<Record<string, unknown>>

const source = { collection: 'Item' }
const field = (...path: readonly string[]) => ({ object: { field: path } })
const reference = field('ref')

/** Indexes whose elements end with the reference of the document, and those of groups, which only joins read. */
const indexes = [
  { name: 'refs', source },
  { name: 'by_g', source, terms: [field('data', 'g')] },
  { name: 'by_tag', source, terms: [field('data', 'tags')] },
  { name: 'by_n', source, terms: [field('data', 'n')] },
  { name: 'n_ref', source, values: [field('data', 'n'), reference] },
  { name: 'g_by_n', source, terms: [field('data', 'n')], values: [field('data', 'g')] },
  { name: 'g_by_tag', source, terms: [field('data', 'tags')], values: [field('data', 'g')] },
  { name: 'n_ref_by_g', source, terms: [field('data', 'g')], values: [field('data', 'n'), reference] },
  { name: 'tag_ref_by_g', source, terms: [field('data', 'g')], values: [field('data', 'tags'), reference] },
]

/** Creates the indexes that the sets use. `prefix` begins their names. */
export async function createIndexes4(database: LawDatabase, prefix = ''): Promise<void> {
  for (const index of indexes) {
    await database.run4({ create_index: { object: { ...index, name: prefix + index.name } } })
  }
}

/** The privileges to read all indexes, as parameters of a role. */
export const readIndexes = indexes.map(({ name }) => ({
  object: { resource: { index: name }, actions: { object: { read: true } } },
}))

const match = (index: string, terms?: unknown): Expression =>
  terms === undefined ? { match: { index } } : { match: { index }, terms }
const number = fc.integer({ min: 0, max: 5 })

const groupsAndTags = fc.oneof(
  fc.constantFrom(...groups).map(group => match('by_g', group)),
  fc.constantFrom('a', 'b', 'c').map(tag => match('by_tag', tag)),
)
/** Sets of references, and sets of pairs of a number or tag and a reference. Members of a combined set have the same form. */
const references = fc.oneof(
  fc.constantFrom<Expression>({ documents: source }, match('refs')),
  { weight: 2, arbitrary: groupsAndTags },
  number.map(n => match('by_n', n)),
)
const pairs = fc.oneof(
  fc.constant(match('n_ref')),
  fc.constantFrom(...groups).map(group => match('n_ref_by_g', group)),
  fc.constantFrom(...groups).map(group => match('tag_ref_by_g', group)),
  fc.tuple(number, number).map(([from, to]): Expression => ({ range: match('n_ref'), from, to })),
)

/** Intersections and differences of few stored sets of references, which documents enter and leave separately. */
export const narrowSets4: fc.Arbitrary<Expression> = fc
  .tuple(
    fc.constantFrom('difference', 'difference', 'intersection'),
    fc.oneof(references, fc.constant(match('refs'))),
    fc.array(groupsAndTags, { minLength: 1, maxLength: 3, size: 'max' }),
  )
  .map(([name, first, others]) => ({ [name]: [first, ...others] }))

const groupSets = fc.oneof(
  number.map(n => match('g_by_n', n)),
  fc.constantFrom('a', 'b', 'c').map(tag => match('g_by_tag', tag)),
)

function combined(base: fc.Arbitrary<Expression>, target: string): fc.Arbitrary<Expression> {
  return fc.letrec<{ set: Expression; sets: Expression[] }>(tie => ({
    sets: fc.array(tie('set'), { minLength: 1, maxLength: 3 }),
    set: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      base,
      tie('sets').map(union => ({ union })),
      tie('sets').map(intersection => ({ intersection })),
      tie('sets').map(difference => ({ difference })),
      tie('set').map(distinct => ({ distinct })),
      groupSets.map((set): Expression => ({ join: set, with: { index: target } })),
      groupSets.map(
        (set): Expression => ({ join: set, with: { lambda: 'g', expr: match(target, { var: 'g' }) } }),
      ),
    ),
  })).set
}

const anySet = fc.oneof(combined(references, 'by_g'), combined(pairs, 'n_ref_by_g'))

/** Random sets, combined of sets with elements of the same form and order. */
export const sets4: fc.Arbitrary<Expression> = fc.oneof(
  anySet,
  anySet.map(reverse => ({ reverse })),
)
