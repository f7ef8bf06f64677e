// References inside written fields: they must resolve and may not point into another database. Schema objects
// are stricter: what they refer to has to exist and be readable.

import { step } from '../../base/effort.ts'
import type { Failure } from '../../errors.ts'
import { limits } from '../../limits.ts'
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

/** Every reference in `value` that may not be written, with its path behind `path`; of very many, the first. */
export function referenceFailures(
  value: Value,
  path: readonly string[],
  call: Call,
  strict: boolean,
  database: DatabaseId = call.evaluation.database,
): readonly Failure[] {
  const failures: Failure[] = []
  // One path for the whole walk: most of what is written are plain values, which need none.
  const here: (string | number)[] = [...path]
  const visit = (value: object): void => {
    if (failures.length >= limits.gatheredErrorsMax) return
    const names = () => here.map(String)
    if (value instanceof UnresolvedRef) {
      failures.push(failure(names(), 'invalid reference', 'Cannot read reference.'))
    } else if (value instanceof Ref) {
      failures.push(...checkReference(value, names, call, strict, database))
    } else if (value instanceof DocumentValue) {
      failures.push(...checkReference(value.ref, names, call, false, database))
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

function checkReference(
  ref: Ref,
  path: () => readonly string[],
  call: Call,
  strict: boolean,
  database: DatabaseId,
): readonly Failure[] {
  if (ref.database !== database) return [failure(path(), 'invalid reference', 'Reference cannot be scoped.')]
  if (!strict || isNativeCollectionRef(ref)) return []
  if (!exists(ref, call)) return [failure(path(), 'invalid reference', 'Reference was not found.')]
  return mayRead(ref, call) ? [] : [failure(path(), 'invalid reference', 'Cannot read reference.')]
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
