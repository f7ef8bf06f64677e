// Converts between stored values and runtime values of version 10. Most stored values and runtime values have the same
// form. References become documents.

import { step } from '../../base/effort.ts'
import { type Message, msg } from '../../base/message.ts'
import {
  DocumentValue,
  isArray as isStoredArray,
  LocalDate,
  Ref,
  Lambda as StoredLambda,
  type Value as StoredValue,
  Time,
  TransactionTime,
  Transient,
  Uuid,
} from '../../values/value.ts'
import { parseLambda } from '../syntax/parse-query.ts'
import { Source } from '../syntax/source.ts'
import { Doc, isArray, isStruct, Lambda, NarrowLong, NullValue, typeName, type Value } from '../value.ts'

/**
 * Passes an argument of a version 10 function to the predicates that decide whether the call is allowed. Predicates of
 * version 10 get the argument unchanged, because {@link runtimeOf} returns the original argument.
 */
export class ArgumentWrapper extends Transient {
  readonly kind = 'argument'
  readonly value: Value
  constructor(value: Value) {
    super()
    this.value = value
  }

  storedForm(): StoredValue {
    return storedOf(this.value)
  }

  parts(): readonly StoredValue[] {
    return [this.storedForm()]
  }
}

type DocumentOf = (ref: Ref) => Value

/** Replaces every stored lambda of version 4, because version 10 cannot call these lambdas. Returns null. */
const foreignLambda = (() => {
  const source = new Source('*lambda*', '() => null')
  return new Lambda(parseLambda(source), source, undefined)
})()

/** Also accepts values returned by code of version 4. Values that need no conversion are returned unchanged. */
export function runtimeOf(stored: StoredValue, documentOf: DocumentOf): Value {
  if (stored === null || typeof stored !== 'object' || stored instanceof Uint8Array) return stored
  step()
  if (stored instanceof Map) return runtimeStruct(stored, documentOf)
  if (isStoredArray(stored)) return runtimeArray(stored, documentOf)
  if (stored instanceof Time || stored instanceof LocalDate || stored instanceof Uuid) return stored
  if (stored instanceof TransactionTime) return TransactionTime.time
  if (stored instanceof Ref) return documentOf(stored)
  if (stored instanceof StoredLambda) return foreignLambda
  if (stored instanceof DocumentValue) return documentOf(stored.ref)
  if (stored instanceof ArgumentWrapper) return stored.value
  return stored instanceof Transient ? runtimeOf(stored.storedForm(), documentOf) : null
}

function runtimeStruct(stored: ReadonlyMap<string, StoredValue>, documentOf: DocumentOf): Value {
  let changed: Map<string, Value> | undefined
  for (const [name, field] of stored) {
    const value = runtimeOf(field, documentOf)
    if (value === field) continue
    changed ??= new Map(stored as ReadonlyMap<string, Value>)
    changed.set(name, value)
  }
  return changed ?? (stored as ReadonlyMap<string, Value>)
}

function runtimeArray(stored: readonly StoredValue[], documentOf: DocumentOf): Value {
  const values = stored.map(element => runtimeOf(element, documentOf))
  return values.every((value, index) => value === stored[index]) ? (stored as readonly Value[]) : values
}

/** A value that cannot be stored, with its path. */
export class UnstorableValue {
  readonly path: string
  readonly value: Value
  constructor(path: string, value: Value) {
    this.path = path
    this.value = value
  }

  get message(): Message {
    const { path, value } = this
    if (value instanceof Lambda)
      return msg`Anonymous functions cannot be stored. Use a string of FQL instead.`
    return msg`Value at \`${path}\` has type ${typeName(value)}, which cannot be persisted.`
  }
}

/** Throws {@link UnstorableValue} for the first part that cannot be stored. */
export function storedOf(value: Value, path = ''): StoredValue {
  if (value === null || value instanceof NullValue) return null
  if (typeof value !== 'object' || value instanceof Uint8Array) return value
  step()
  if (isArray(value)) return value.map((element, index) => storedOf(element, `${path}[${index}]`))
  if (isStruct(value)) {
    const prefix = path === '' ? '' : `${path}.`
    return new Map(Array.from(value, ([name, field]) => [name, storedOf(field, prefix + name)]))
  }
  if (value instanceof Time || value instanceof LocalDate || value instanceof Uuid) return value
  if (value instanceof TransactionTime) return TransactionTime.time
  if (value instanceof NarrowLong) return value.value
  if (value instanceof Doc && value.state !== 'by name') return value.ref
  throw new UnstorableValue(path, value)
}
