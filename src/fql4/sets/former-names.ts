// Finds the objects to which the references in a cursor refer. A page prints a reference by name, also if the schema
// object with this name is deleted, or another object has the name now. So a cursor of a page can contain names of
// deleted objects. The set itself decides which object is meant: the place of the cursor is an element of the set.

import { step } from '../../base/effort.ts'
import type { Session } from '../../model/session.ts'
import {
  collectionOf,
  firstUserCollection,
  isArray,
  isObject,
  namedNatives,
  native,
  nativeOfKind,
  Ref,
  UnresolvedRef,
  type Value,
} from '../../values/value.ts'
import { documentRef } from '../references.ts'
import { unresolvedIn } from './cursor.ts'

/** Maximum number of combinations of objects that are tried for the names of one cursor. */
const combinationsMax = 64

/**
 * Returns a cursor whose references refer to the objects of an element of the set. Returns undefined if a name never
 * had an object.
 *
 * - `mayMeanDeleted`: whether a reference to an existing object may refer to a deleted object of the same name.
 * - `isElement`: returns whether the set contains the element at the place of a cursor.
 */
export function resolveNames(
  cursor: readonly Value[],
  mayMeanDeleted: boolean,
  isElement: (cursor: readonly Value[]) => boolean,
  session: Session,
): readonly Value[] | undefined {
  const isResolved = unresolvedIn(cursor) === undefined
  if (isResolved && (!mayMeanDeleted || isElement(cursor))) return cursor
  const resolved = combinations(cursor, session).filter(each => unresolvedIn(each) === undefined)
  const [first, ...others] = resolved
  if (first === undefined || others.length === 0) return first
  return resolved.find(isElement) ?? first
}

export function hasRef(value: Value): boolean {
  step()
  if (value instanceof Ref) return true
  return (isArray(value) || isObject(value)) && [...value.values()].some(part => hasRef(part as Value))
}

/** Returns the lists in which each value has one of its meanings, at most {@link combinationsMax}. */
function combinations(values: readonly Value[], session: Session): readonly (readonly Value[])[] {
  let lists: (readonly Value[])[] = [[]]
  for (const value of values) {
    // An object may have been created and deleted thousands of times with the same name.
    const meanings = meaningsOf(value, session).slice(0, combinationsMax)
    lists = lists.flatMap(list => meanings.map(meaning => [...list, meaning])).slice(0, combinationsMax)
    step(lists.length)
  }
  return lists
}

/** Returns a value with each combination of the objects to which its references can refer. */
function meaningsOf(value: Value, session: Session): readonly Value[] {
  step()
  if (value instanceof UnresolvedRef) return formerRefs(value, session)
  if (value instanceof Ref) return namesakes(value, session)
  if (isArray(value)) return combinations(value, session)
  if (!isObject(value)) return [value]
  const keys = [...value.keys()]
  return combinations([...value.values()], session).map(
    parts => new Map(keys.map((key, index) => [key, parts[index] as Value])),
  )
}

/** Returns the references to deleted objects with the name in an unresolved reference, the newest object first. */
function formerRefs({ target }: UnresolvedRef, session: Session): readonly Ref[] {
  if (target.type === 'document') {
    const { collection, id } = target
    return formerRefs(collection, session).map(each => documentRef(each, id) as Ref)
  }
  // Cursors of pages contain references to other databases only for sets of other databases.
  if (target.type === 'native' || target.type === 'key' || target.scope !== undefined) return []
  const { catalogue } = session.transaction
  return catalogue.namesakes(session.database, native[nativeOfKind[target.type]], target.name)
}

/** Returns a reference, and then the references with the same name to other objects. */
function namesakes(ref: Ref, session: Session): readonly Ref[] {
  const ofUser = ref.collection >= firstUserCollection
  if (!ofUser && !namedNatives.has(ref.collection)) return [ref]
  const object = ofUser ? collectionOf(ref) : ref
  const { catalogue } = session.transaction
  const name = catalogue.nameOf(object)
  if (name === undefined) return [ref]
  const others = catalogue
    .namesakes(object.database, object.collection, name)
    .filter(each => each.id !== object.id)
  return [ref, ...others.map(each => (ofUser ? (documentRef(each, ref.id) as Ref) : each))]
}
