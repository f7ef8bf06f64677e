// Methods of collections, such as `Author.all()`; `natives.ts` uses some of them for native collections.

import { msg } from '../../base/message.ts'
import type { Call } from '../call.ts'
import { WhereSet } from '../sets/functional.ts'
import { elementsOf, type LazySet, originOf } from '../sets/lazy-set.ts'
import { rangeOfDocuments, StoredSet } from '../sets/stored-set.ts'
import type { Module, UserCollection, Value } from '../value.ts'
import { firstOf } from './elements.ts'
import { entriesFor, type FunctionDefinition, type LibraryEntry, type Members, members } from './entry.ts'
import { any, callback, id, struct } from './parameters.ts'

const { field, method } = entriesFor<Module>()

/** If `range` is defined, the set contains only the documents in this range. */
function allOf(collection: Module, range: Value | undefined, call: Call): LazySet {
  const bounds = range === undefined ? {} : rangeOfDocuments(range, call)
  return new StoredSet({
    collection,
    index: undefined,
    terms: [],
    isReversed: false,
    at: call.at,
    snapshot: call.snapshot,
    ...bounds,
  })
}

/** The static type of the argument of `all`, and of the last argument of index functions. */
export const rangeType = '{ from: Any } | { to: Any } | { from: Any, to: Any }'

/** Methods of all collections, including native collections. */
export const commonMethods: readonly FunctionDefinition[] = [
  method('all', {
    effect: 'read',
    optional: { range: any },
    type: `(() => Set<Doc>) & ((range: ${rangeType}) => Set<Doc>)`,
    summary:
      'Returns the documents of the collection, in the order of their ids. `range`, an object with the fields `from`, `to` or both, limits the ids; both bounds are inclusive.',
    example: ['Author.all().count()', '2'],
    run: (collection, { range }, call) => allOf(collection, range, call),
  }),
  method('where', {
    effect: 'read',
    parameters: { predicate: callback(1, 'pred') },
    type: '(pred: (Doc => Boolean)) => Set<Doc>',
    summary:
      'Returns the set of the documents for which `predicate` returns true. A read of this set can read every document of the collection.',
    example: ['Author.where(.name == "Ann").count()', '1'],
    run(collection, { predicate }, call) {
      addScanHint(collection, 'where', call)
      return new WhereSet(allOf(collection, undefined, call), predicate, originOf(call))
    },
  }),
  method('firstWhere', {
    effect: 'read',
    parameters: { predicate: callback(1, 'pred') },
    type: '(pred: (Doc => Boolean)) => Doc | Null',
    summary:
      'Returns the first document for which `predicate` returns true, or null if there is none. The call can read every document of the collection.',
    example: ['Author.firstWhere(.name == "Ann")!.name', '"Ann"'],
    run(collection, { predicate }, call) {
      addScanHint(collection, 'firstWhere', call)
      const found = new WhereSet(allOf(collection, undefined, call), predicate, originOf(call))
      return firstOf(elementsOf(found, call), msg`empty set`, call)
    },
  }),
  method('toString', {
    type: '() => String',
    summary: 'Returns the name of the collection.',
    example: ['Author.toString()', '"Author"'],
    run: ({ name }) => name,
  }),
]

function addScanHint({ name }: Module, method: string, call: Call): void {
  const text = `Using ${method}() on collection ${name} can cause a read of every document.`
  call.evaluation.hint('collection_scan', text, call.span)
}

export const create: FunctionDefinition = method('create', {
  effect: 'write',
  parameters: { data: struct },
  type: '(data: { *: Any }) => Doc',
  summary: 'Creates a document with the fields `data` and returns it.',
  example: ['Author.create({ name: "Cy" }).name', '"Cy"'],
  run: (collection, { data }, call) => call.evaluation.world.writer.create(collection, data, 'default', call),
})

function byIdAs(name: string, effect: 'pure' | 'read'): FunctionDefinition {
  return method(name, {
    effect,
    parameters: { id },
    type: '(id: ID) => Ref<Doc>',
    summary: 'Returns a reference to the document with the id `id`. The document need not exist.',
    example: ['Author.byId(1).exists()', 'true'],
    run: (collection, args, call) => call.evaluation.world.documents.byId(collection, args.id, call),
  })
}

export const byId: FunctionDefinition = byIdAs('byId', 'read')
/**
 * The function that runs when a query calls a collection, such as `Author(1)`. As in the hosted service, only `byId`
 * counts as a read, although neither function reads. So `Author(1)` is allowed where reads are forbidden.
 */
export const applyId: FunctionDefinition = byIdAs('apply', 'pure')

const entries: readonly LibraryEntry[] = [
  ...commonMethods,
  create,
  byId,
  method('createData', {
    effect: 'write',
    parameters: { data: struct },
    type: '(data: { *: Any }) => Doc',
    summary:
      'Creates a document with the fields `data` and returns it. In contrast to `create`, reserved names such as `id` and `ttl` are ordinary fields.',
    example: ['Author.createData({ id: "a" }).data.id', '"a"'],
    run: (collection, { data }, call) => call.evaluation.world.writer.create(collection, data, 'plain', call),
  }),
  field('definition', {
    type: 'CollectionDef',
    summary: 'The document that defines the collection.',
    example: ['Author.definition.name', '"Author"'],
    // The cast is safe, because only user collections have these entries.
    read: collection => (collection as UserCollection).definition,
  }),
]

/** The members of a user collection. `own` adds the collection's index functions. */
export function userCollectionMembers(name: string, own: readonly LibraryEntry[] = []): Members {
  return members(name, [...entries, ...own], applyId)
}
