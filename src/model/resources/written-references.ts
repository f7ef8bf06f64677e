// Checks references in written fields. A reference must resolve, and must not point to another database. In schema
// objects, the referenced documents must also exist, and the caller must be allowed to read the documents.

import { step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import {
  DocumentValue,
  firstUserCollection,
  isArray,
  isNativeCollectionRef,
  isObject,
  native,
  Ref,
  UnresolvedRef,
  type Value,
} from '../../values/value.ts'
import type { FieldFailure } from '../failure.ts'
import { mayRead } from '../permissions.ts'
import type { Session } from '../session.ts'

/**
 * Returns a failure for each invalid reference in `value`, up to a limit. `strict`: the documents must exist and be
 * readable.
 */
export function referenceFailures(value: Value, session: Session, strict: boolean): readonly FieldFailure[] {
  const failures: FieldFailure[] = []
  // The traversal updates one array in place and copies it only for a failure, because most written values have no
  // failure.
  const here: (string | number)[] = []
  const visit = (value: object): void => {
    if (failures.length >= limits.gatheredErrorsMax) return
    const names = () => here.map(String)
    if (value instanceof UnresolvedRef) {
      failures.push(refused(names(), 'unreadable'))
    } else if (value instanceof Ref) {
      failures.push(...checkReference(value, names, session, strict))
    } else if (value instanceof DocumentValue) {
      failures.push(...checkReference(value.ref, names, session, false))
    } else if (isArray(value as Value)) {
      for (const [index, element] of (value as readonly Value[]).entries()) enter(index, element)
    } else if (isObject(value as Value)) {
      for (const [name, field] of value as ReadonlyMap<string, Value>) enter(name, field)
    }
  }
  const enter = (name: string | number, value: Value): void => {
    step()
    if (value === null || typeof value !== 'object') return
    here.push(name)
    visit(value)
    here.pop()
  }
  if (value !== null && typeof value === 'object') visit(value)
  return failures
}

function refused(path: readonly string[], why: 'unreadable' | 'missing' | 'other database'): FieldFailure {
  return { path, fault: { kind: 'reference', why }, isInArgument: true }
}

function checkReference(
  ref: Ref,
  path: () => readonly string[],
  session: Session,
  strict: boolean,
): readonly FieldFailure[] {
  if (ref.database !== session.database) return [refused(path(), 'other database')]
  if (!strict || isNativeCollectionRef(ref)) return []
  if (!exists(ref, session)) return [refused(path(), 'missing')]
  return mayRead(ref, session) ? [] : [refused(path(), 'unreadable')]
}

function exists(ref: Ref, session: Session): boolean {
  const { transaction } = session
  const inCollection = ref.collection < firstUserCollection || isLiveCollection(ref, session)
  return inCollection && transaction.get(ref) !== undefined
}

function isLiveCollection(ref: Ref, session: Session): boolean {
  const collection = new Ref(ref.database, native.collections, BigInt(ref.collection))
  return session.transaction.catalogue.collection(collection) !== undefined
}
