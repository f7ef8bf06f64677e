// Functions that read sets: pages, first and last elements.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { requireReachable } from '../../model/read.ts'
import { isArray, isNativeCollectionRef, isObject, Ref, type Value } from '../../values/value.ts'
import { anyValue, boolean, identifier, integer, setOrArray, transactionTime } from '../arguments.ts'
import { type ArgumentsOf, type Call, define, family, optional, unary } from '../definition.ts'
import { type PageRequest, readPage } from '../sets/pages.ts'
import { endOfSet } from '../sets/read.ts'
import { atTime } from './basic.ts'

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

function endFunction(end: 'first' | 'last', exampleResult: string) {
  return unary(end, setOrArray, {
    effect: 'read',
    since: '4',
    result: 'Any',
    summary: `Returns the ${end} element of a set or array. An empty set or array is an error.`,
    example: ['[1, 2, 3]', exampleResult],
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
