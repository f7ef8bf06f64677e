// Generates templates of sets with template values in random places: before, within and after projections, in nested
// templates, and in captured variables.

import { fc } from './fast-check.ts'

export type TemplatePart =
  | string
  | { readonly value: unknown }
  | { readonly fql: readonly TemplatePart[] }
  | { readonly array: readonly TemplatePart[] }
  | { readonly object: Readonly<Record<string, TemplatePart>> }

type Parts = readonly TemplatePart[]
type Generator = fc.Arbitrary<Parts>

const number = fc.integer({ min: 0, max: 3 })

function integerValue(n: number): TemplatePart {
  return { value: { '@int': String(n) } }
}

const integer: Generator = fc.oneof(
  { weight: 3, arbitrary: number.map(n => [integerValue(n)]) },
  { weight: 1, arbitrary: number.map(n => [String(n)]) },
)

function joined(...parts: readonly (string | Generator)[]): Generator {
  const generators = parts.map(part => (typeof part === 'string' ? fc.constant([part]) : part))
  return fc.tuple(...generators).map(all => all.flat())
}

/** Field lists of elements with the fields `n`, `t` and `sub`. */
const fields = fc.oneof(
  fc.constant(['n, t, sub { m }']),
  joined('n, t: .t + ', integer, ', sub'),
  joined('n: .n + ', integer, ', t, sub { m: .m * ', integer, ' }'),
  joined('n, t, sub { m, k: ', integer, ' }, more: .n * ', integer),
)

/** Appends something to a set. The set is always in parentheses, because a projection cannot precede a method. */
type Step = (set: Generator) => Generator

const filters: readonly Step[] = [
  set => joined('(', set, ').where(.n >= ', integer, ')'),
  set => joined('(', set, ').where(x => x.n + ', integer, ' > ', integer, ')'),
]

const mappings: readonly Step[] = [
  set => joined('(', set, ') { ', fields, ' }'),
  set => joined('(', set, ').map(x => x { ', fields, ' })'),
  set => joined('(', set, ').map(x => { n: x.n + ', integer, ', t: x.t, sub: x.sub })'),
]

const orders: readonly Step[] = [
  set => joined('(', set, ').reverse()'),
  set => joined('(', set, ').order(desc(.n + ', integer, '), .t)'),
  set => joined('(', set, ').drop(', integer, ')'),
]

const combinations: readonly Step[] = [
  set => joined('(', set, ').concat(', set, ')'),
  set => joined('(', set, ').concat((', set, ') { ', fields, ' })'),
  set => joined('(', set, ').flatMap(x => (', set, ').where(.n >= x.n + ', integer, '))'),
  set => joined('(', set, ').flatMap(x => [x].toSet() { ', fields, ' })'),
]

/** Adds up to `depth` random steps to a set. */
function withSteps(base: Generator, steps: readonly Step[], depth: number): Generator {
  const inner = depth === 0 ? base : withSteps(base, steps, depth - 1)
  const nested = inner.map((parts): Parts => [{ fql: parts }])
  const set = fc.oneof(inner, nested)
  return fc.oneof(inner, ...steps.map(step => step(set)))
}

/** An object with the fields `n`, `t` and `sub`, as text. */
const written = joined('{ n: ', integer, ', t: "a", sub: { m: ', integer, ' } }')

/** The same object as an object of the template. */
const composed: Generator = fc.tuple(number, number).map(([n, m]) => {
  const sub = { fql: ['{ m: ', integerValue(m), ' }'] }
  return [{ object: { n: integerValue(n), t: { value: 'b' }, sub } }]
})

/** The same object as a value of the template. */
const given: Generator = number.map(n => [
  { value: { n: { '@int': String(n) }, t: 'c', sub: { m: { '@int': String(n) } } } },
])

/** Generates sets without documents. */
export const arraySets: Generator = withSteps(
  joined('[', written, ', ', fc.oneof(written, composed), ', ', fc.oneof(written, given), '].toSet()'),
  [...filters, ...mappings, ...orders, ...combinations],
  3,
)

/** Sets of documents of a collection that can be event sources, with filters and projections. */
export function eventSets(collection: string): Generator {
  const all = fc.constant([`${collection}.all()`])
  const where = joined(`${collection}.where(.n >= `, integer, ')')
  return withSteps(fc.oneof(all, where), [...filters, ...mappings], 3)
}
