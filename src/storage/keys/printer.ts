// Prints keys and stored values for people: in the integrity check, for debugging and for the documentation.

import { unreachable } from '../../base/assert.ts'
import { formatDate } from '../../values/date.ts'
import { javaDoubleText } from '../../values/double-text.ts'
import { formatMicros, formatTime } from '../../values/time.ts'
import { nativeName, type Ref, type TaggedValue, Transient, type Value } from '../../values/value.ts'
import { decodeKey, type EntryKey } from './key-reader.ts'
import { isTruncated, tupleBytesMax } from './tuple.ts'

/** A key as text, such as `document 0/1024/1`. */
export function printKey(bytes: Uint8Array): string {
  const key = decodeKey(bytes)
  switch (key.kind) {
    case 'document':
      return `document ${printRef(key.ref)}`
    case 'history':
      return `history ${printRef(key.ref)} at ${formatMicros(key.ts)}`
    case 'expiry':
      return `expiry of ${printRef(key.ref)} at ${formatMicros(key.ts)}`
    case 'indexLive':
      return `entry ${printEntry(key)}`
    case 'indexEnded':
      return `ended entry ${printEntry(key)} until ${formatMicros(key.removedTs)}`
    case 'indexEvent':
      return `${key.action} ${printEntry(key)} at ${formatMicros(key.ts)}`
    case 'schemaVersion':
      return `schema version ${key.database}`
    case 'counter':
      return `counter ${key.database}/${printCollection(key.collection)}`
    case 'keyHome':
      return `home of key ${key.keyId}`
    case 'changes':
      return `changes at ${formatMicros(key.ts)} part ${key.sequence}`
    case 'collectionChanges': {
      const collection = `${key.database}/${printCollection(key.collection)}`
      return `changes of ${collection} at ${formatMicros(key.ts)} part ${key.sequence}`
    }
    case 'meta':
      return `meta ${key.name}`
    case 'control':
      return `control ${JSON.stringify(new TextDecoder().decode(key.rest))}`
    case 'garbage':
      return `${key.work} work on ${printRef(key.target)} due ${formatMicros(key.due)}`
    case 'build':
      return `build of index ${key.database}/${key.index}`
    default:
      return unreachable(key)
  }
}

/**
 * Returns the value in one line. A value that JSON cannot represent is written with its type, such as `ref(0/1024/1)`.
 */
export function printValue(value: Value): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'number':
      return javaDoubleText(value)
    case 'bigint':
    case 'boolean':
      return String(value)
  }
  if (value === null) return 'null'
  if (value instanceof Uint8Array) return `bytes(${printBytes(value)})`
  if (Array.isArray(value)) return `[${value.map(printValue).join(', ')}]`
  if (value instanceof Map) {
    return `{${[...value].map(([name, field]) => `${JSON.stringify(name)}: ${printValue(field)}`).join(', ')}}`
  }
  if (value instanceof Transient) return printValue(value.storedForm())
  return printTagged(value as TaggedValue)
}

function printTagged(value: TaggedValue): string {
  switch (value.kind) {
    case 'time':
      return `time(${formatTime(value)})`
    case 'date':
      return `date(${formatDate(value)})`
    case 'uuid':
      return `uuid(${value.text})`
    case 'ref':
      return `ref(${printRef(value)})`
    case 'unresolved':
      return `unresolved(${value.target.type})`
    case 'lambda':
      return `lambda(${printValue(value.parameters)} -> ${printValue(value.body)}, version ${value.apiVersion})`
    case 'transaction time':
      return `transaction time(${value.unit})`
  }
}

function printRef(ref: Ref): string {
  return `${ref.database}/${printCollection(ref.collection)}/${ref.id}`
}

function printCollection(collection: number): string {
  return nativeName(collection) ?? String(collection)
}

function printEntry(entry: EntryKey): string {
  const terms = entry.terms ? printValue(entry.terms) : `hashed ${printBytes(entry.termsBytes.subarray(1))}`
  const values = isTruncated(entry.values)
    ? `${printBytes(entry.values.subarray(0, tupleBytesMax))}... cut`
    : printBytes(entry.values)
  const { collection, id } = entry.document
  return `${entry.database}/${entry.index} terms ${terms} values <${values}> document ${printCollection(collection)}/${id}`
}

function printBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
