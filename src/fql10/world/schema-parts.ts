// Reads the parts of a collection definition that affect reads: computed fields, and the index functions of the
// collection's module.

import { catchError } from '../../base/catch-error.ts'
import { msg } from '../../base/message.ts'
import { upsert } from '../../base/upsert.ts'
import { uncounted } from '../../model/read.ts'
import { type OwnIndex, ownIndexes } from '../../model/schema/collection-indexes.ts'
import { namedIn, textIn } from '../../model/schema/definition-parts.ts'
import type { OwnField } from '../../model/schema/index-fields.ts'
import type { Session } from '../../model/session.ts'
import { microsOfTime } from '../../values/time.ts'
import {
  int64Max,
  native,
  Ref,
  type Value as StoredValue,
  Time,
  TransactionTime,
} from '../../values/value.ts'
import type { Call } from '../call.ts'
import { userCollectionMembers } from '../library/collection.ts'
import { entriesFor, type FunctionDefinition } from '../library/entry.ts'
import { nativeModule } from '../library/natives.ts'
import { any, id as idParameter } from '../library/parameters.ts'
import { stricterLimit } from '../sets/lazy-set.ts'
import {
  endsOfRange,
  notQueryable,
  rangeOfDocuments,
  type StoredBound,
  StoredSet,
} from '../sets/stored-set.ts'
import { Doc, Lambda, type Module, UserCollection, type Value } from '../value.ts'
import { bodyOf } from './bodies.ts'
import { storedOf, UnstorableValue } from './stored-values.ts'

const { method } = entriesFor<Module>()

/** Creates functions such as `Jar.byName("a", { from: 1 })`: the arguments are the terms and an optional range. */
function indexFunction(index: OwnIndex): FunctionDefinition {
  const names = index.terms.map((_, at) => `term${at + 1}`)
  return method(index.name, {
    effect: 'read',
    parameters: Object.fromEntries(names.map(name => [name, any])),
    optional: { range: any },
    // Static type checks do not use this text: typing/collection-shapes.ts has the types of the terms.
    type: `(${names.map(name => `${name}: Any`).join(', ')}) => Set<Doc>`,
    summary: 'The documents that an index has under some terms.',
    example: [`Author.${index.name}("Ann").count()`, '1'],
    run(collection, { range, ...terms }, call) {
      const given = names.map(name => terms[name] ?? null)
      return setOf(index, collection, given, range, call)
    },
  })
}

function setOf(
  index: OwnIndex,
  collection: Module,
  terms: readonly Value[],
  range: Value | undefined,
  call: Call,
): StoredSet {
  if (!index.isQueryable) throw notQueryable(collection, index.name, call)
  call.evaluation.world.sets.requireSomeRead(collection, call)
  const stored = terms.map((term, at) => storedTerm(term, `term${at + 1}`, call))
  const bounds = range === undefined ? {} : rangeOf(index, collection, range, call)
  return new StoredSet({
    collection,
    index: index.name,
    content: index.contentDigest,
    terms: stored,
    isReversed: false,
    at: call.at,
    snapshot: call.snapshot,
    span: call.span,
    ...bounds,
  })
}

function storedTerm(term: Value, name: string, call: Call): StoredValue {
  const stored = storedOrUndefined(term)
  if (stored !== undefined) return stored
  throw call.invalidArgument(name, msg`Argument cannot be used as lookup term`)
}

function storedOrUndefined(value: Value): StoredValue | undefined {
  return catchError(
    UnstorableValue,
    () => storedOf(value),
    () => undefined,
  )
}

function rangeOf(index: OwnIndex, collection: Module, range: Value, call: Call) {
  const { values } = index
  if (values.length === 0) return rangeOfDocuments(range, call)
  return endsOfRange(range, call, (end, given) => {
    const items = values.length > 1 && Array.isArray(given) ? (given as readonly Value[]) : [given]
    if (items.length > values.length) {
      throw call.invalidArgument('range', msg`The field \`${end}\` can have at most ${values.length} values`)
    }
    const bound = items.map((item, at) => boundValue(item, values[at] as OwnField, collection))
    if (bound.some(each => each === undefined)) {
      const shape = 'should be either an indexable value or an array of values'
      throw call.invalidArgument('range', msg`The \`${end}\` field ${shape}`)
    }
    return boundOf(bound as readonly StoredValue[], index)
  })
}

/**
 * An index whose last value is `id` does not store this value, because index entries are ordered by id anyway. The
 * stored bound then contains the id separately. In an index with one value, a bound that is an array matches all arrays
 * that begin with the same elements. In an index with several values, a bound can be a prefix of the values.
 */
function boundOf(bound: readonly StoredValue[], { stored, values }: OwnIndex): StoredBound {
  const count = stored.values.length
  const last = bound[count]
  if (last instanceof Ref) return { values: bound.slice(0, count), id: last.id }
  return values.length === 1 && Array.isArray(bound[0]) ? { values: bound, isOpen: true } : { values: bound }
}

/** In index entries, `id` is a reference, and `ts` is a number of microseconds. */
function boundValue(
  value: Value,
  { isComputed, path }: OwnField,
  collection: Module,
): StoredValue | undefined {
  const [name] = path
  if (path.length === 1 && !isComputed && name === 'id') return idBound(value, collection)
  const stored = storedOrUndefined(value)
  if (path.length === 1 && !isComputed && name === 'ts' && stored instanceof Time) {
    return microsOfTime(stored)
  }
  return stored
}

/** Null becomes the lowest id. Any other value that is not an id becomes the highest id. */
function idBound(value: Value, collection: Module): StoredValue | undefined {
  if (!(collection instanceof UserCollection)) return undefined
  const { database, id: number } = collection.ref
  const id = value instanceof Doc ? value.ref.id : idParameter.cast(value)
  const isNull = storedOrUndefined(value) === null
  return new Ref(database, Number(number), id ?? (isNull ? 0n : int64Max))
}

/** Runs on every read of the field. */
type ComputedField = (doc: Doc, call: Call) => Value

interface SchemaParts {
  readonly computed: ReadonlyMap<string, ComputedField>
  /** True if the current query has written the definition. */
  readonly isWrittenHere: boolean
  /** The module of the collection. `name` is the collection's name. `as` is the name or alias that the query uses. */
  module(name: string, as: string): UserCollection
}

/** The parts are cached. `collection` refers to the document that defines the collection. */
export function schemaPartsOf(collection: Ref, session: Session): SchemaParts {
  const { catalogue } = session.transaction
  const all = catalogue.derived(collection.database, 'parts', () => new Map<bigint, SchemaParts>())
  return upsert(all, collection.id, () => readParts(collection, session))
}

function readParts(collection: Ref, session: Session): SchemaParts {
  const { transaction } = session
  const version = uncounted(transaction, () => transaction.get(collection))
  const definition = version?.fields
  const name = textIn(definition, 'name') ?? ''
  const computed = new Map<string, ComputedField>()
  for (const [field, spec] of namedIn(definition, 'computed_fields')) {
    const body = textIn(spec, 'body')
    if (body !== undefined) computed.set(field, computedField(body, `*computed_field:${name}:${field}*`))
  }
  const indexes = [...ownIndexes(collection, session).values()].map(indexFunction)
  const modules = new Map<string, UserCollection>()
  return {
    computed,
    isWrittenHere: version?.ts instanceof TransactionTime,
    module: (collectionName, as) =>
      upsert(modules, as, () => {
        const document = new Doc(collection, nativeModule(native.collections), { name: collectionName })
        return new UserCollection(as, userCollectionMembers(as, indexes), document)
      }),
  }
}

/** The function may read documents, but not write. If the caller has a stricter effect limit, this limit applies. */
function computedField(body: string, source: string): ComputedField {
  return (doc, call) => {
    const parsed = bodyOf(body, source)
    const limit = stricterLimit(call, { effect: 'read', place: 'computed fields' })
    return call.evaluation.apply(new Lambda(parsed.node, parsed.source, undefined), [doc], call.as({ limit }))
  }
}
