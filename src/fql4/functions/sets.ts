// Functions that create, combine or transform sets. Combinations also accept arrays; `distinct` and `reverse` accept
// arrays and pages, too.

import { msg } from '../../base/message.ts'
import { isArray, Lambda, native, Ref, UnresolvedRef, type Value } from '../../values/value.ts'
import {
  anyValue,
  collectionRef,
  identifier,
  indexRef,
  iterable,
  lambda,
  nameOrRef,
  nonEmptyList,
  ref,
  set,
  setOrArray,
} from '../arguments.ts'
import {
  type ArgumentType,
  type Call,
  define,
  type FunctionDefinition,
  family,
  mismatch,
  optional,
  unary,
  undefinedReference,
} from '../definition.ts'
import type { BoundLambda } from '../expression.ts'
import {
  combinedSet,
  derivedSet,
  documentsSet,
  eventsSet,
  filterSet,
  joinSet,
  matchSet,
  rangeSet,
  termsOf,
} from '../sets/constructors.ts'
import { Page, type SetLike, SetValue } from '../values/transient.ts'
import { differenceOf, distinctOf, intersectionOf, reversedPage, unionOf } from './array-sets.ts'

const terms: ArgumentType<readonly Value[]> = {
  mode: 'value',
  name: 'Any or Array of Any',
  check: (value, call, key) => termsOf(value, call, key),
}

/** A lambda or an index. The parser passes lambda literals unevaluated. */
const joinLink: ArgumentType<BoundLambda | Lambda | Ref> = {
  mode: 'lambda or value',
  name: 'Lambda or Index Ref',
  check(value, call, key) {
    if (value instanceof Lambda) return value
    if (value instanceof Ref && value.collection === native.indexes) return indexRef.check(value, call, key)
    if (value instanceof UnresolvedRef) throw undefinedReference(value, call, key)
    throw mismatch('Lambda or Index Ref', value, call, key)
  },
}

const combinations = { union: unionOf, intersection: intersectionOf, difference: differenceOf }

/** Throws `invalid argument` for a mixture of sets and arrays. */
function combine(
  type: keyof typeof combinations,
  members: readonly (readonly Value[] | SetLike)[],
  call: Call,
): Value {
  const arrays = members.filter(isArray)
  if (arrays.length === 0) return combinedSet(type, members as readonly SetLike[], call)
  if (arrays.length === members.length) return call.session.metered(() => combinations[type](arrays))
  throw call.invalid(msg`Arguments cannot be of different types, expected Set or Array.`, type)
}

function combination(name: keyof typeof combinations, summary: string, exampleResult: string) {
  return unary(name, nonEmptyList(setOrArray), {
    result: 'Set or Array',
    summary,
    example: ['[[1, 2, 2, 3], [2, 3, 4]]', exampleResult],
    evaluate: (members, call) => combine(name, members, call),
  })
}

const byElement = '{"@ref": {"id": "spells_by_element", "collection": {"@ref": {"id": "indexes"}}}}'

/** The function `filter` in set literals. Accepts only sets. In queries, `filter` also accepts arrays and pages. */
const filterOfSet = define({
  arguments: { filter: lambda, collection: set },
  result: 'Set',
  summary: 'The elements of a set for which a lambda returns true.',
  example: [
    '{"filter": {"lambda": "ref", "expr": true}, "collection": {"collections": null}}',
    '{"@set": {"filter": …, "collection": {"@ref": {"id": "collections"}}}}',
  ],
  evaluate: (args, call) => filterSet(args.collection, args.filter, call),
})

export const sets = family('Sets', [
  define({
    arguments: { match: nameOrRef, terms: optional(terms) },
    result: 'Set',
    summary:
      'Returns the set of the entries of the index `match` with the given `terms`. Omit `terms` for an index without terms.',
    example: [
      '{"match": {"index": "spells_by_element"}, "terms": "fire"}',
      `{"@set": {"match": ${byElement}, "terms": "fire"}}`,
    ],
    evaluate: (args, call) => matchSet(args.match, args.terms ?? [], call, 'match'),
  }),
  define({
    deprecatedFor: 'match',
    arguments: { match: terms, index: nameOrRef },
    result: 'Set',
    summary: 'Returns the set of the index entries with the given terms.',
    example: [
      '{"match": "fire", "index": {"index": "spells_by_element"}}',
      `{"@set": {"match": ${byElement}, "terms": "fire"}}`,
    ],
    evaluate: (args, call) => matchSet(args.index, args.match, call, 'index'),
  }),
  unary('documents', collectionRef, {
    result: 'Set',
    summary: 'Returns the set of all documents of a collection, in the order of their ids.',
    example: ['{"collections": null}', '{"@set": {"documents": {"@ref": {"id": "collections"}}}}'],
    evaluate: documentsSet,
  }),
  unary('singleton', ref, {
    result: 'Set',
    summary:
      'Returns a set that contains only the given reference. If the document does not exist, the set is empty.',
    example: ['{"collections": null}', '{"@set": {"singleton": {"@ref": {"id": "collections"}}}}'],
    evaluate: document => new SetValue({ type: 'singleton', ref: document }),
  }),
  unary('events', identifier, {
    result: 'Set',
    summary: 'Returns the set of the events in the history of a document or set.',
    example: ['{"collections": null}', '{"@set": {"events": {"@ref": {"id": "collections"}}}}'],
    evaluate: eventsSet,
  }),
  combination(
    'union',
    'Returns the elements that any of the sets or arrays contains. An element occurs as often as in the operand that contains it most often.',
    '[1, 2, 2, 3, 4]',
  ),
  combination(
    'intersection',
    'Returns the elements that all of the sets or arrays contain. An element occurs as often as in the operand that contains it least often.',
    '[2, 3]',
  ),
  combination(
    'difference',
    'Returns the elements of the first set or array that the others do not contain. In arrays, each element of the others removes only one equal element.',
    '[1, 2]',
  ),
  unary('distinct', iterable, {
    result: 'Set, Array, or Page',
    summary: 'Returns the elements of a set, array or page without duplicates.',
    example: ['[1, 2, 1, 3, 2]', '[1, 2, 3]'],
    evaluate(elements, { session }) {
      if (elements instanceof Page || isArray(elements)) return session.metered(() => distinctOf(elements))
      return derivedSet('distinct', elements)
    },
  }),
  define({
    arguments: { join: set, with: joinLink },
    result: 'Set',
    summary:
      'Returns the union of the sets that `with` returns for the elements of the set `join`. `with` is a lambda that returns a set, or an index, which is matched with each element as its terms.',
    example: [
      '{"join": {"collections": null}, "with": {"index": "spells_by_element"}}',
      `{"@set": {"join": {"@ref": {"id": "collections"}}, "with": ${byElement}}}`,
    ],
    evaluate: (args, call) => joinSet(args.join, args.with, call),
  }),
  define({
    arguments: { range: set, from: anyValue, to: anyValue },
    result: 'Set',
    summary:
      'Returns the elements of the set `range` between `from` and `to`, both inclusive. A bound is a value or an array of values; an empty array means no bound.',
    example: [
      '{"range": {"collections": null}, "from": [], "to": []}',
      '{"@set": {"range": {"@ref": {"id": "collections"}}, "from": [], "to": []}}',
    ],
    evaluate: (args, call) => rangeSet(args.range, args.from, args.to, call),
  }),
  unary('reverse', iterable, {
    result: 'Set, Array, or Page',
    summary: 'Returns the elements of a set, array or page in reverse order.',
    example: ['[1, 2, 3]', '[3, 2, 1]'],
    evaluate(elements) {
      if (elements instanceof Page) return reversedPage(elements)
      return isArray(elements) ? elements.toReversed() : derivedSet('reverse', elements)
    },
  }),
])

/** The functions that a set literal may call. */
export const literalForms: readonly FunctionDefinition[] = [
  ...sets.definitions,
  ...family('Sets', [filterOfSet]).definitions,
]
