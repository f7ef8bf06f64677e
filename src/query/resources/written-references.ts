// References inside written fields: they must resolve and may not point into another database. Schema objects
// are stricter: what they refer to has to exist and be readable.

import type { Failure } from '../../errors.ts'
import {
  type DatabaseId,
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
import type { Call } from '../definition.ts'
import { mayRead } from '../permissions.ts'
import { failure } from './resource.ts'

const none: readonly Failure[] = []

/** Every reference in `value` that may not be written, with its path behind `path`. */
export function referenceFailures(
  value: Value,
  path: readonly string[],
  call: Call,
  strict: boolean,
  database: DatabaseId = call.evaluation.database,
): readonly Failure[] {
  if (value instanceof UnresolvedRef) return [failure(path, 'invalid reference', 'Cannot read reference.')]
  if (value instanceof Ref) return checkReference(value, path, call, strict, database)
  if (value instanceof DocumentValue) return checkReference(value.ref, path, call, false, database)
  const fields = isArray(value) ? value.entries() : isObject(value) ? value : none
  let failures: Failure[] | undefined
  for (const [name, field] of fields as Iterable<readonly [string | number, Value]>) {
    // Most of what is written are plain values: they need no path.
    if (field === null || typeof field !== 'object') continue
    const found = referenceFailures(field, [...path, String(name)], call, strict, database)
    if (found.length === 0) continue
    failures ??= []
    for (const each of found) failures.push(each)
  }
  return failures ?? none
}

function checkReference(
  ref: Ref,
  path: readonly string[],
  call: Call,
  strict: boolean,
  database: DatabaseId,
): readonly Failure[] {
  if (ref.database !== database) return [failure(path, 'invalid reference', 'Reference cannot be scoped.')]
  if (!strict || isNativeCollectionRef(ref)) return []
  if (!exists(ref, call)) return [failure(path, 'invalid reference', 'Reference was not found.')]
  return mayRead(ref, call) ? [] : [failure(path, 'invalid reference', 'Cannot read reference.')]
}

function exists(ref: Ref, call: Call): boolean {
  const { transaction } = call.evaluation
  const inCollection = ref.collection < firstUserCollection || isLiveCollection(ref, call)
  return inCollection && transaction.get(ref) !== undefined
}

function isLiveCollection(ref: Ref, call: Call): boolean {
  const collection = new Ref(ref.database, native.collections, BigInt(ref.collection))
  return call.evaluation.transaction.catalogue.collection(collection) !== undefined
}
