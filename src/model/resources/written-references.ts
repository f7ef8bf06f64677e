// Checks references in written fields: they must be resolved, and must not point to another database. References in
// schema objects must point to existing documents that the caller may read.

import { step } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import {
  DocumentValue,
  isArray,
  isNativeCollectionRef,
  isObject,
  Ref,
  UnresolvedRef,
  type Value,
} from '../../values/value.ts'
import type { FieldFailure } from '../failure.ts'
import { mayRead } from '../permissions.ts'
import type { Session } from '../session.ts'

/**
 * Returns at most a limited number of failures. With `strict`, references must point to existing documents that the
 * caller may read.
 */
export function referenceFailures(value: Value, session: Session, strict: boolean): readonly FieldFailure[] {
  const failures: FieldFailure[] = []
  // The path to the current value, updated in place and copied only for failures.
  const here: (string | number)[] = []
  const visit = (value: object): void => {
    if (failures.length >= limits.gatheredErrorsMax) return
    const names = () => here.map(String)
    if (value instanceof UnresolvedRef) {
      failures.push(referenceFailure(names(), 'unreadable'))
    } else if (value instanceof Ref) {
      failures.push(...checkReference(value, names, session, strict))
    } else if (value instanceof DocumentValue) {
      // The query has already read this document.
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

function referenceFailure(
  path: readonly string[],
  why: 'unreadable' | 'missing' | 'other database',
): FieldFailure {
  return { path, fault: { kind: 'reference', why }, isInArgument: true }
}

function checkReference(
  ref: Ref,
  path: () => readonly string[],
  session: Session,
  strict: boolean,
): readonly FieldFailure[] {
  if (ref.database !== session.database) return [referenceFailure(path(), 'other database')]
  if (!strict || isNativeCollectionRef(ref)) return []
  if (session.transaction.get(ref) === undefined) return [referenceFailure(path(), 'missing')]
  return mayRead(ref, session) ? [] : [referenceFailure(path(), 'unreadable')]
}
