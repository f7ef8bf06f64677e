// Creates sets without reading their elements. Names and arguments are checked when a set is created, not when the set
// is read.

import { msg } from '../../base/message.ts'
import {
  firstUserCollection,
  Lambda,
  native,
  type Ref,
  UnresolvedRef,
  type Value,
} from '../../values/value.ts'
import { type Call, mismatch, undefinedReference } from '../definition.ts'
import type { BoundLambda } from '../expression.ts'
import { notFound, permissionDenied } from '../failure-errors.ts'
import { type ErrorEntry, QueryError } from '../query-errors.ts'
import { resolveName } from '../references.ts'
import { typeName } from '../values/tagged.ts'
import { type SetLike, type SetShape, SetValue } from '../values/transient.ts'
import { effectOf, setLambda } from './call-reading.ts'
import { listOf, unresolvedIn } from './cursor.ts'
import { canCombine, isHistory } from './describe.ts'

/**
 * `key` is the argument with the index. As in the hosted service, only a reference to another object causes an error at
 * this argument; all other errors have the position `index`, even if the argument is `match`.
 */
export function matchSet(index: string | Ref, terms: readonly Value[], call: Call, key: string): SetValue {
  const ref = typeof index === 'string' ? indexNamed(index, call) : index
  if (ref.collection !== native.indexes) throw mismatch('Index Ref', ref, call, key)
  requireActive(ref, call, 'index')
  return new SetValue({ type: 'match', index: ref, terms })
}

function indexNamed(name: string, call: Call): Ref {
  const ref = resolveName('index', name, undefined, call.session)
  if (ref instanceof UnresolvedRef) throw undefinedReference(ref, call, 'index')
  return ref
}

/**
 * Throws if the index does not exist or is not active, or if the caller may not use the index. Errors have the position
 * of the argument `key`.
 */
function requireActive(ref: Ref, call: Call, key: string): void {
  const { authority, transaction } = call.session
  if (authority.kind !== 'builtin' && ref.database !== authority.database) throw permissionDenied(call, key)
  const index = transaction.catalogue.index(ref)
  if (!index) throw notFound(native.indexes, call, key)
  if (index.active) return
  const description = msg`Index '${index.name}' is not active.`
  throw QueryError.of('instance not found', description, call.position(key), { status: 400 })
}

/** Accepts a single value or a list. Throws `invalid argument` for an unresolved reference. */
export function termsOf(value: Value, call: Call, key: string): readonly Value[] {
  const terms = listOf(value)
  for (const [index, term] of terms.entries()) {
    const unresolved = unresolvedIn(term)
    if (!unresolved) continue
    throw call.invalid(
      msg`Any expected, ${typeName(unresolved)} provided.`,
      key,
      ...(terms === value ? [index] : []),
    )
  }
  return terms
}

export function documentsSet(collection: Ref, call: Call): SetValue {
  const { catalogue } = call.session.transaction
  if (collection.id >= firstUserCollection && !catalogue.collection(collection)) {
    const name = catalogue.nameOf(collection) ?? String(collection.id)
    throw undefinedReference(new UnresolvedRef({ type: 'collection', name }), call, 'documents')
  }
  return new SetValue({ type: 'documents', collection })
}

export function eventsSet(source: SetLike, call: Call): SetValue {
  if (isHistory(source)) throw call.invalid(msg`Set does not support events history.`)
  return new SetValue({ type: 'events', source })
}

export function combinedSet(
  type: 'union' | 'intersection' | 'difference',
  sets: readonly SetLike[],
  call: Call,
): SetValue {
  if (!canCombine(sets, call.session)) throw call.invalid(msg`Sets are not compatible.`, type)
  return new SetValue({ type, sets })
}

export function derivedSet(type: 'distinct' | 'reverse', source: SetLike): SetValue {
  return new SetValue({ type, source })
}

/** Throws one QueryError with an entry for each bound that contains an unresolved reference. */
export function rangeSet(source: SetLike, from: Value, to: Value, call: Call): SetValue {
  const unresolved = [...undefinedIn(from, call, 'from'), ...undefinedIn(to, call, 'to')]
  if (unresolved.length > 0) throw new QueryError(unresolved)
  return new SetValue({ type: 'range', source, from: listOf(from), to: listOf(to) })
}

function undefinedIn(value: Value, call: Call, key: string): readonly ErrorEntry[] {
  const unresolved = unresolvedIn(value)
  return unresolved ? undefinedReference(unresolved, call, key).errors : []
}

const filterEffectText = msg`Invalid lambda. Lambda in this context may not write or call a user function.`
const joinEffectText = msg`Invalid lambda. Lambda in this context may not read, write, or call a user function.`

export function filterSet(source: SetLike, bound: BoundLambda, call: Call): SetValue {
  if (bound.lambda.effect === 'write') throw call.invalid(filterEffectText, 'filter')
  return new SetValue({ type: 'filter', source, lambda: setLambda(bound, call, 'filter') })
}

/** The second argument of a join: a lambda literal, a lambda value, or an index. */
type JoinLink = BoundLambda | Lambda | Ref

export function joinSet(source: SetLike, link: JoinLink, call: Call): SetValue {
  return new SetValue({ type: 'join', source, with: linkOf(link, call) })
}

function linkOf(link: JoinLink, call: Call): Extract<SetShape, { type: 'join' }>['with'] {
  if (!('lambda' in link || link instanceof Lambda)) {
    requireActive(link, call, 'with')
    return link
  }
  const lambda = link instanceof Lambda ? link : setLambda(link, call, 'with')
  if (effectOf(lambda, call.session) === 'pure') return lambda
  throw call.invalid(joinEffectText, 'with')
}
