// Sets of documents from a collection or one of its indexes. The file world/stored-sets.ts reads the elements of these
// sets.

import { msg } from '../../base/message.ts'
import type { Value as StoredValue } from '../../values/value.ts'
import type { Call, ReadTimes } from '../call.ts'
import type { QueryFailure } from '../failure/query-failure.ts'
import { id as idParameter } from '../library/parameters.ts'
import type { Span } from '../syntax/source.ts'
import { Doc, isStruct, type Module, type Value } from '../value.ts'
import type { SetItem, SetPlace } from './items.ts'
import { LazySet } from './lazy-set.ts'
import { absent, saved, savedTimes } from './saved-values.ts'

/** A bound of a range: a prefix of the index values, optionally followed by a document id. */
export interface StoredBound {
  readonly values: readonly StoredValue[]
  readonly id?: bigint
  /** `values` has one element, an array. The bound then matches all arrays that begin with its elements. */
  readonly isOpen?: boolean
}

interface StoredSetOptions extends ReadTimes {
  readonly collection: Module
  /** Undefined for all documents of the collection. */
  readonly index: string | undefined
  /**
   * Identifies the content of the index, as of the call that created the set: a place is valid only while the index
   * has this content. Undefined for a set without an index, and for a set from a cursor without this text.
   */
  readonly content?: string | undefined
  readonly terms: readonly StoredValue[]
  /** If undefined, the range begins at the start of the index. */
  readonly from?: StoredBound | undefined
  /** If undefined, the range ends at the end of the index. */
  readonly to?: StoredBound | undefined
  readonly isReversed: boolean
  /** The argument list in the call of the index function. Absent for a set from a cursor. */
  readonly span?: Span | undefined
}

/** Documents in the order of their ids or of an index. */
export class StoredSet extends LazySet {
  readonly options: StoredSetOptions
  constructor(options: StoredSetOptions) {
    super()
    this.options = options
  }

  override items(reading: Call, from: SetPlace | undefined): Iterable<SetItem> {
    return reading.evaluation.world.sets.scan(this, from, reading)
  }

  override saved(): readonly StoredValue[] {
    const { collection, content, from, index, isReversed, terms, to } = this.options
    const bounds = [savedBound(from), savedBound(to)]
    return [
      'stored',
      saved(collection),
      index ?? absent,
      terms,
      ...bounds,
      isReversed,
      savedTimes(this.options),
      ...(content === undefined ? [] : [content]),
    ]
  }

  override reversed(): LazySet {
    return new StoredSet({ ...this.options, isReversed: !this.options.isReversed })
  }
}

/** The failure of a page that cannot be read with its cursor. */
export function invalidCursor(call: Call): QueryFailure {
  return call.failure('invalid_cursor', msg`Cursor cursor is invalid or expired.`)
}

export function missingIndex({ name }: Module, index: string, call: Call): QueryFailure {
  const message = msg`The function \`${index}\` does not exist on \`${name}\``
  return call.failure('invalid_function_invocation', message)
}

/** The failure of a read of an index that is not built yet, or that its definition excludes from queries. */
export function notQueryable({ name }: Module, index: string, call: Call): QueryFailure {
  const message = msg`The index \`${name}.${index}\` is not queryable.`
  return call.failure('invalid_index_invocation', message)
}

function savedBound(bound: StoredBound | undefined): StoredValue {
  if (bound === undefined) return absent
  const { id, isOpen, values } = bound
  return isOpen ? [values, id ?? absent, true] : [values, id ?? absent]
}

/** `{ from: …, to: … }`. Both bounds are inclusive. */
interface StoredRange {
  readonly from?: StoredBound
  readonly to?: StoredBound
}

/** `bound` converts the value of one bound. Throws `invalid_argument`. */
export function endsOfRange(
  range: Value,
  call: Call,
  bound: (end: 'from' | 'to', value: Value) => StoredBound,
): StoredRange {
  const given = isStruct(range) ? range : new Map<string, Value>()
  const from = given.get('from')
  const to = given.get('to')
  if (from === undefined && to === undefined) {
    // The hosted service has the same misspelling.
    const shape = msg`should be an object contining \`{ from }\`, \`{ to }\`, or \`{ from, to }\` fields`
    throw call.invalidArgument('range', shape)
  }
  return {
    ...(from !== undefined && { from: bound('from', from) }),
    ...(to !== undefined && { to: bound('to', to) }),
  }
}

/** Throws `invalid_argument`. */
export function rangeOfDocuments(range: Value, call: Call): StoredRange {
  return endsOfRange(range, call, (end, value) => {
    const id = value instanceof Doc ? value.ref.id : idParameter.cast(value)
    if (id !== undefined) return { values: [], id }
    throw call.invalidArgument('range', msg`The \`${end}\` field must be a document id.`)
  })
}
