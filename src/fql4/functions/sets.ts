// Functions that create or combine sets, and functions that read sets: pages, first and last elements. Many functions
// also accept arrays and pages.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { requireReachable } from '../../model/read.ts'
import {
  isArray,
  isNativeCollectionRef,
  isObject,
  Lambda,
  type NativeName,
  native,
  Ref,
  UnresolvedRef,
  type Value,
} from '../../values/value.ts'
import { ValueKeys } from '../../values/value-keys.ts'
import {
  anyValue,
  boolean,
  collectionRef,
  databaseRefOrNull,
  identifier,
  indexRef,
  integer,
  iterable,
  lambda,
  nameOrRef,
  nonEmptyList,
  ref,
  set,
  setOrArray,
  transactionTime,
} from '../arguments.ts'
import {
  type ArgumentsOf,
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
import { type PageRequest, readPage } from '../sets/pages.ts'
import { endOfSet } from '../sets/read.ts'
import { Page, type SetLike, SetValue } from '../values/transient.ts'
import { atTime } from './basic.ts'

// The set operations on arrays and pages. The results retain the order of the elements and depend on how often each
// value occurs. Values are compared by deep equality. The integer 1 and the double 1.0 are different values.

function countsOf(array: readonly Value[], keys: ValueKeys): Map<string, number> {
  const counts = new Map<string, number>()
  for (const value of array) {
    const key = keys.keyOf(value)
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  return counts
}

/** Removes one occurrence of a value from the counts. Returns false if the counts contain no occurrence. */
function take(counts: Map<string, number>, key: string): boolean {
  const count = counts.get(key) ?? 0
  if (count === 0) return false
  counts.set(key, count - 1)
  return true
}

/** Keeps the order of first occurrences. Each value occurs as often as in the array with the most occurrences. */
function unionOf(arrays: readonly (readonly Value[])[]): Value[] {
  const keys = new ValueKeys()
  const most = new Map<string, { readonly value: Value; count: number }>()
  for (const array of arrays) {
    const counts = new Map<string, number>()
    for (const value of array) {
      const key = keys.keyOf(value)
      const count = (counts.get(key) ?? 0) + 1
      counts.set(key, count)
      const known = most.get(key)
      if (!known) most.set(key, { value, count })
      else if (count > known.count) known.count = count
    }
  }
  return [...most.values()].flatMap(({ value, count }) => new Array<Value>(count).fill(value))
}

/** Keeps the order of the first array. Each value occurs as often as in the array with the fewest occurrences. */
function intersectionOf(arrays: readonly (readonly Value[])[]): readonly Value[] {
  const [first, ...others] = arrays as readonly [readonly Value[]]
  const keys = new ValueKeys()
  return others.reduce<readonly Value[]>((shared, other) => {
    const counts = countsOf(other, keys)
    return shared.filter(value => take(counts, keys.keyOf(value)))
  }, first)
}

/** Removes one equal element from the first array for each element of the other arrays. */
function differenceOf(arrays: readonly (readonly Value[])[]): readonly Value[] {
  const [first, ...others] = arrays as readonly [readonly Value[]]
  const keys = new ValueKeys()
  const counts = countsOf(others.flat(), keys)
  return first.filter(value => !take(counts, keys.keyOf(value)))
}

function distinctOf(elements: readonly Value[] | Page): Value {
  const data = elements instanceof Page ? elements.data : elements
  const keys = new ValueKeys()
  const seen = new Set<string>()
  const kept: number[] = []
  for (const [index, value] of data.entries()) {
    const { size } = seen
    if (seen.add(keys.keyOf(value)).size > size) kept.push(index)
  }
  const pick = <T>(items: readonly T[]): T[] => kept.map(index => items[index] as T)
  if (!(elements instanceof Page)) return pick(data)
  const { before, after } = elements
  const pickPositions = () => {
    const { positions } = elements
    return positions.length === 0 ? [] : pick(positions)
  }
  return new Page(pick(data), before, after, pickPositions)
}

/** The cursors do not change. */
function reversedPage(page: Page): Page {
  return new Page(page.data.toReversed(), page.before, page.after, () => page.positions.toReversed())
}

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

/** A mixture of sets and arrays causes an error. */
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
    summary: `Returns the collection of all ${what} in the database of the query, or in the child database if its reference is given. The result can be used as a set.`,
    example: ['null', `{"@ref": {"id": "${collection}"}}`],
    evaluate: (database, call) => nativeRef(collection, database ?? undefined, call.session),
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

const options = {
  ts: optional(transactionTime),
  size: optional(integer),
  events: optional(boolean),
  sources: optional(boolean),
}

type Options = ArgumentsOf<typeof options> & { readonly paginate: PageRequest['set'] }
type Start = Pick<PageRequest, 'direction' | 'cursor' | 'cursorAt'>

function paginate(args: Options, start: Start, call: Call): Value {
  const { paginate: set, ts, size = BigInt(limits.pageSizeDefault), events = false, sources = false } = args
  if (set instanceof Ref && !isNativeCollectionRef(set)) requireReachable(set, call.session)
  const read = () => readPage({ set, size, events, sources, ...start }, call)
  return atTime(ts, call, read)
}

/** Parses a cursor object with the key `after` or `before`. Null means no cursor. */
function startOf(cursor: Value, call: Call): Start {
  if (cursor === null) return { direction: 'after', cursor: undefined, cursorAt: [] }
  const [key, ...others] = isObject(cursor) ? cursor.keys() : []
  if ((key !== 'after' && key !== 'before') || others.length > 0 || !isObject(cursor)) {
    const expected = "Expected an object with either 'before' or 'after' key in it."
    throw call.invalid(msg`Invalid cursor object. ${expected}`, 'cursor')
  }
  return { direction: key, cursor: cursor.get(key), cursorAt: ['cursor', key] }
}

function endFunction(end: 'first' | 'last', answer: string) {
  return unary(end, setOrArray, {
    effect: 'read',
    since: '4',
    result: 'Any',
    summary: `Returns the ${end} element of a set or array. An empty set or array is an error.`,
    example: ['[1, 2, 3]', answer],
    evaluate(elements, call) {
      if (!isArray(elements)) return endOfSet(elements, call, end)
      if (elements.length === 0) throw call.invalid(msg`Non-empty array expected.`, end)
      return elements.at(end === 'first' ? 0 : -1) as Value
    },
  })
}

const fireSpells = '{"match": {"index": "spells_by_element"}, "terms": "fire"}'

export const pagination = family('Pagination', [
  define({
    effect: 'read',
    arguments: { paginate: identifier, after: optional(anyValue), ...options },
    result: 'Page',
    summary: `Reads a page of \`size\` elements (default ${limits.pageSizeDefault}) of a set or history. The page begins at the cursor \`after\`, or at the start of the set if \`after\` is missing.`,
    example: [`{"paginate": ${fireSpells}, "size": 2}`, '{"data": [10]}'],
    evaluate: (args, call) =>
      paginate(args, { direction: 'after', cursor: args.after, cursorAt: ['after'] }, call),
  }),
  define({
    effect: 'read',
    arguments: { paginate: identifier, before: anyValue, ...options },
    result: 'Page',
    summary: `Reads the page of \`size\` elements (default ${limits.pageSizeDefault}) that ends before the cursor \`before\`. If \`before\` is null, reads the last page of the set.`,
    example: [`{"paginate": ${fireSpells}, "before": null}`, '{"after": [null], "data": [10]}'],
    evaluate: (args, call) =>
      paginate(args, { direction: 'before', cursor: args.before, cursorAt: ['before'] }, call),
  }),
  define({
    effect: 'read',
    arguments: { paginate: identifier, cursor: anyValue, ...options },
    result: 'Page',
    summary: `Reads a page of \`size\` elements (default ${limits.pageSizeDefault}) of a set. \`cursor\` is an object with the key \`after\` or \`before\`, or null for the first page.`,
    example: [
      `{"paginate": ${fireSpells}, "cursor": {"object": {"after": 5}}}`,
      '{"before": [5], "data": [10]}',
    ],
    evaluate: (args, call) => paginate(args, startOf(args.cursor, call), call),
  }),
  endFunction('first', '1'),
  endFunction('last', '3'),
])
