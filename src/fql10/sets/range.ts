// Parses ranges of sets of documents: `{ from: …, to: … }`. Both bounds are inclusive.

import { msg } from '../../base/message.ts'
import type { Call } from '../call.ts'
import { id as idParameter } from '../library/parameters.ts'
import { Doc, isStruct, type Value } from '../value.ts'
import type { StoredBound } from './stored-set.ts'

/** The lower bound of a range, the upper one, or both. */
interface StoredRange {
  readonly from?: StoredBound
  readonly to?: StoredBound
}

/** The bounds of a range as stored bounds. Throws `invalid_argument`. */
export function endsOfRange(
  range: Value,
  call: Call,
  bound: (end: 'from' | 'to', value: Value) => StoredBound,
): StoredRange {
  const given = isStruct(range) ? range : new Map<string, Value>()
  const from = given.get('from')
  const to = given.get('to')
  if (from === undefined && to === undefined) {
    const shape = msg`should be an object contining \`{ from }\`, \`{ to }\`, or \`{ from, to }\` fields`
    throw call.invalidArgument('range', shape)
  }
  return {
    ...(from !== undefined && { from: bound('from', from) }),
    ...(to !== undefined && { to: bound('to', to) }),
  }
}

/** The bounds of a range of documents, which are ordered by id. Throws `invalid_argument`. */
export function rangeOfDocuments(range: Value, call: Call): StoredRange {
  return endsOfRange(range, call, (end, value) => {
    const id = value instanceof Doc ? value.ref.id : idParameter.cast(value)
    if (id !== undefined) return { values: [], id }
    throw call.invalidArgument('range', msg`The \`${end}\` field must be a document id.`)
  })
}
