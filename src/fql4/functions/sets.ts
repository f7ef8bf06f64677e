// Functions that create sets, and the same operations on arrays and pages.

import { msg } from '../../base/message.ts'
import {
  isArray,
  Lambda,
  type NativeName,
  native,
  Ref,
  UnresolvedRef,
  type Value,
} from '../../values/value.ts'
import {
  anyValue,
  collectionRef,
  databaseRefOrNull,
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
  type Lifetime,
  mismatch,
  optional,
  unary,
  undefinedReference,
} from '../definition.ts'
import type { BoundLambda } from '../expression.ts'
import { nativeRef } from '../references.ts'
import { differenceOf, distinctOf, intersectionOf, reversedPage, unionOf } from '../sets/arrays.ts'
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
import { Page } from '../values/page.ts'
import { type SetLike, SetValue } from '../values/set-value.ts'

const terms: ArgumentType<readonly Value[]> = {
  mode: 'value',
  name: 'Any or Array of Any',
  check: (value, call, key) => termsOf(value, call, key),
}

/** A lambda value or an index. The parser passes lambda literals unevaluated. */
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

/** Combines only sets into a set, or only arrays into an array. */
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

function combination(name: keyof typeof combinations, summary: string, answer: string) {
  return unary(name, nonEmptyList(setOrArray), {
    result: 'Set or Array',
    summary,
    example: ['[[1, 2, 2, 3], [2, 3, 4]]', answer],
    evaluate: (members, call) => combine(name, members, call),
  })
}

function nativeCollection(name: string, collection: NativeName, what: string, lifetime: Lifetime = {}) {
  return unary(name, databaseRefOrNull, {
    ...lifetime,
    result: 'Collection Ref',
    summary: `All ${what} of the database, or of a child database; can be used as a set.`,
    example: ['null', `{"@ref": {"id": "${collection}"}}`],
    evaluate: (database, call) => nativeRef(collection, database ?? undefined, call.session),
  })
}

const byElement = '{"@ref": {"id": "spells_by_element", "collection": {"@ref": {"id": "indexes"}}}}'

/** `filter` for set literals, which accepts only sets. The function `filter` also accepts arrays and pages. */
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
    summary: 'The entries of an index under some terms.',
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
    summary: 'The entries of an index under some terms, in the order of older drivers.',
    example: [
      '{"match": "fire", "index": {"index": "spells_by_element"}}',
      `{"@set": {"match": ${byElement}, "terms": "fire"}}`,
    ],
    evaluate: (args, call) => matchSet(args.index, args.match, call, 'index'),
  }),
  unary('documents', collectionRef, {
    result: 'Set',
    summary: 'All documents of a collection, by id.',
    example: ['{"collections": null}', '{"@set": {"documents": {"@ref": {"id": "collections"}}}}'],
    evaluate: documentsSet,
  }),
  unary('singleton', ref, {
    result: 'Set',
    summary: 'The set of one document, if it exists.',
    example: ['{"collections": null}', '{"@set": {"singleton": {"@ref": {"id": "collections"}}}}'],
    evaluate: document => new SetValue({ type: 'singleton', ref: document }),
  }),
  unary('events', identifier, {
    result: 'Set',
    summary: 'The history of a document or set.',
    example: ['{"collections": null}', '{"@set": {"events": {"@ref": {"id": "collections"}}}}'],
    evaluate: eventsSet,
  }),
  combination(
    'union',
    'The elements of all sets or arrays; an element occurs as often as in the operand that contains it most often.',
    '[1, 2, 2, 3, 4]',
  ),
  combination(
    'intersection',
    'The elements common to all sets or arrays; an element occurs as often as in the operand that contains it least often.',
    '[2, 3]',
  ),
  combination(
    'difference',
    'The elements of the first set that are in no other set. In arrays, each element of the others removes one equal element.',
    '[1, 2]',
  ),
  unary('distinct', iterable, {
    result: 'Set, Array, or Page',
    summary: 'The elements of a set, array or page, each once.',
    example: ['[1, 2, 1, 3, 2]', '[1, 2, 3]'],
    evaluate(elements, { session }) {
      if (elements instanceof Page || isArray(elements)) return session.metered(() => distinctOf(elements))
      return derivedSet('distinct', elements)
    },
  }),
  define({
    arguments: { join: set, with: joinLink },
    result: 'Set',
    summary: 'The union of the sets that a lambda or an index returns for each element of a set.',
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
      'The elements of a set from one value or list of values to another, both inclusive; [] is no bound.',
    example: [
      '{"range": {"collections": null}, "from": [], "to": []}',
      '{"@set": {"range": {"@ref": {"id": "collections"}}, "from": [], "to": []}}',
    ],
    evaluate: (args, call) => rangeSet(args.range, args.from, args.to, call),
  }),
  unary('reverse', iterable, {
    result: 'Set, Array, or Page',
    summary: 'The elements of a set, array or page, last first.',
    example: ['[1, 2, 3]', '[3, 2, 1]'],
    evaluate(elements) {
      if (elements instanceof Page) return reversedPage(elements)
      return isArray(elements) ? elements.toReversed() : derivedSet('reverse', elements)
    },
  }),
])

/** The functions from which set literals are built. */
export const literalForms: readonly FunctionDefinition[] = [
  ...sets.definitions,
  ...family('Sets', [filterOfSet]).definitions,
]

/** The functions that return the native collections as sets. */
export const nativeCollections = family('Native collections', [
  nativeCollection('databases', 'databases', 'child databases'),
  nativeCollection('collections', 'collections', 'collections'),
  nativeCollection('classes', 'collections', 'collections', { deprecatedFor: 'collections' }),
  nativeCollection('indexes', 'indexes', 'indexes'),
  nativeCollection('functions', 'functions', 'user functions'),
  nativeCollection('roles', 'roles', 'roles'),
  nativeCollection('keys', 'keys', 'keys'),
  nativeCollection('tokens', 'tokens', 'tokens'),
  nativeCollection('credentials', 'credentials', 'credentials'),
  nativeCollection('access_providers', 'access_providers', 'access providers', { since: '4' }),
])
