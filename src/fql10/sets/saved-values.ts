// Encodes sets and their values as stored values, for cursors, event sources and the comparison of sets. Scalar values
// that can be stored are not converted, except for narrow Longs and the time of the transaction. Objects are encoded
// field by field. All other values, such as arrays and sets, become arrays that begin with a letter. This file also adds
// an authentication code to data that clients store and send back.

import { hash, timingSafeEqual } from 'node:crypto'
import { step } from '../../base/effort.ts'
import { epoch } from '../../base/micros.ts'
import { decodeValue, encodeValue } from '../../storage/keys/value-codec.ts'
import { encodeBase64Url } from '../../values/base64.ts'
import { compareBytes } from '../../values/order.ts'
import {
  LocalDate,
  type Micros,
  type Value as StoredValue,
  Time,
  TransactionTime,
  Uuid,
} from '../../values/value.ts'
import type { ReadTimes } from '../call.ts'
import { sliceOf } from '../syntax/slices.ts'
import { placeholderName } from '../syntax/template.ts'
import {
  BoundFunction,
  Doc,
  EventSource,
  type FunctionValue,
  Id,
  isArray,
  isStruct,
  Lambda,
  Module,
  NarrowLong,
  NullValue,
  SetCursor,
  SetValue,
  type Value,
} from '../value.ts'

/** Encodes undefined, such as a missing bound of a range. */
export const absent: StoredValue = null

export function saved(value: Value): StoredValue {
  step()
  if (value === null || value instanceof NullValue) return null
  if (isArray(value)) return ['A', ...value.map(saved)]
  if (isStruct(value)) return new Map(Array.from(value, ([name, field]) => [name, saved(field)]))
  if (typeof value !== 'object' || value instanceof Uint8Array) return value
  if (value instanceof Time || value instanceof LocalDate || value instanceof Uuid) return value
  if (value instanceof TransactionTime) return ['T']
  if (value instanceof NarrowLong) return ['L', value.value]
  if (value instanceof Id) return ['I', value.value]
  if (value instanceof SetCursor) return ['C', value.text]
  if (value instanceof EventSource) return ['E', saved(value.set), value.watched ?? absent]
  return savedOther(value as Doc | Module | SetValue | FunctionValue)
}

function savedOther(value: Doc | Module | SetValue | FunctionValue): StoredValue {
  if (value instanceof Doc) {
    return ['D', value.ref, value.name ?? absent, savedTime(value.readAt)]
  }
  if (value instanceof Module) return ['M', value.name, value.parent ?? absent, value.isUserCollection]
  if (value instanceof SetValue) return ['S', ...value.saved()]
  if (value instanceof Lambda) return savedLambda(value)
  if (value instanceof BoundFunction) return ['B', saved(value.receiver), value.name]
  return ['U', value.name]
}

/** Omits an undefined snapshot time. The `Reviver` (reviver.ts) then uses the snapshot time of the cursor. */
export function savedTimes({ at, snapshot }: ReadTimes): StoredValue {
  return snapshot === undefined ? savedTime(at) : [savedTime(at), savedTime(snapshot)]
}

function savedTime(time: number | undefined): StoredValue {
  return time === undefined ? absent : BigInt(time)
}

/** Includes the variables that the lambda uses. */
function savedLambda({ node, scope, source }: Lambda): StoredValue {
  const slice = sliceOf(node, source)
  const wanted = new Set(slice.names)
  for (const index of slice.indices) wanted.add(placeholderName(index))
  const variables = new Map<string, StoredValue>()
  for (let each = scope; each !== undefined; each = each.outer) {
    if (wanted.delete(each.name)) variables.set(each.name, saved(each.value))
  }
  const numbers = (list: readonly number[]) => list.map(number => BigInt(number))
  return ['F', slice.text, numbers(slice.placeholders), numbers(slice.indices), variables]
}

/** Two sets have the same encoding if the same functions created them from the same values. */
export function haveSameEncoding(left: Value, right: Value): boolean {
  return compareBytes(encodeValue(saved(left), epoch), encodeValue(saved(right), epoch)) === 0
}

/**
 * Clients store texts with these numbers, which never change. Event places (../events/token.ts) use 4; 3 is no longer
 * used.
 */
const formatNumbers = { 'set cursor': 1, 'event source': 2 } as const

type SealedKind = keyof typeof formatNumbers

const proofBytes = 16

/**
 * Encodes data that clients store and send back as base64url: the format number, which identifies the kind of data,
 * the value, and an authentication code of 16 bytes, which proves that this service created the data. The value of a
 * cursor may contain the commit time of the transaction, which is not known yet; `time` replaces it.
 */
export function seal(kind: SealedKind, value: StoredValue, key: Uint8Array, time: Micros): string {
  const encoded = encodeValue(value, time)
  const end = 1 + encoded.length
  const bytes = Buffer.allocUnsafe(end + proofBytes)
  bytes[0] = formatNumbers[kind]
  bytes.set(encoded, 1)
  bytes.set(proofOf(bytes.subarray(0, end), key), end)
  return encodeBase64Url(bytes)
}

/** Decodes a text that was sealed with the key. Returns undefined for any other text. */
export function unseal(
  text: string,
  key: Uint8Array,
): { readonly kind: SealedKind; readonly value: StoredValue } | undefined {
  const bytes = Buffer.from(text, 'base64url')
  const end = bytes.length - proofBytes
  const kind = kindOf(bytes[0])
  if (end < 2 || kind === undefined) return undefined
  if (!timingSafeEqual(bytes.subarray(end), proofOf(bytes.subarray(0, end), key))) return undefined
  return { kind, value: decodeValue(bytes, 1, end) }
}

/** Checks only the form of the text, and not the authentication code. */
export function looksSealed(text: string, wanted: SealedKind): boolean {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length - proofBytes >= 2 && kindOf(bytes[0]) === wanted
}

function kindOf(formatNumber: number | undefined): SealedKind | undefined {
  return (Object.keys(formatNumbers) as SealedKind[]).find(kind => formatNumbers[kind] === formatNumber)
}

/** A truncated hash of the key, the data and the key again. An HMAC would take three times as long. */
function proofOf(head: Uint8Array, key: Uint8Array): Buffer {
  const end = key.length + head.length
  const authenticated = Buffer.allocUnsafe(end + key.length)
  authenticated.set(key, 0)
  authenticated.set(head, key.length)
  authenticated.set(key, end)
  return hash('sha256', authenticated, 'buffer').subarray(0, proofBytes)
}
