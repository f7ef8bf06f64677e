// Serializes records as lines of text without loss, for the transfer between the command line and a service. Integers
// stay distinct from doubles, NaN and lone surrogates are preserved, and references contain names instead of numbers.

import { encodeBase64 } from '../values/base64.ts'
import { formatDate } from '../values/date.ts'
import { tryJson } from '../values/json.ts'
import { formatTime } from '../values/time.ts'
import {
  isObject,
  type Json,
  Lambda,
  LocalDate,
  nativeOfKind,
  type SchemaKind,
  Time,
  UnresolvedRef,
  Uuid,
  type Value,
} from '../values/value.ts'
import { doubleText } from '../values/write-json.ts'
import { textTags } from './formats/driver-values.ts'
import { BadRecord, type DocumentRecord } from './record.ts'
import { recordFault } from './record-check.ts'
import { documentReference, schemaReference } from './references.ts'

/** Returns the record in one line, without the line break. */
export function recordText(record: DocumentRecord): string {
  const { collection, id, ts, isHistory, isDelete, fields } = record
  const kind = isDelete ? 'd' : isHistory ? 'h' : 'w'
  return `["${kind}",${JSON.stringify(collection)},${id},${ts ?? 'null'},${valueText(fields)}]`
}

/** Throws {@link BadRecord} for invalid lines. */
export function readRecord(line: string): DocumentRecord {
  const json = tryJson(line)
  if (!Array.isArray(json) || json.length !== 5) throw notOurs()
  const [kind, collection, id, ts, content] = json as readonly Json[]
  const fields = readValue(content as Json)
  const isTime = ts === null || typeof ts === 'bigint'
  const isKind = kind === 'w' || kind === 'h' || kind === 'd'
  if (!isKind || typeof collection !== 'string' || typeof id !== 'bigint' || !isTime || !isObject(fields))
    throw notOurs()
  const record: DocumentRecord = {
    kind: 'document',
    collection,
    id,
    ts: ts === null ? undefined : Number(ts),
    isHistory: kind !== 'w',
    isDelete: kind === 'd',
    fields,
    size: line.length,
  }
  const fault = recordFault(record)
  if (fault !== undefined) throw new BadRecord(`${collection} ${id}: ${fault}`)
  return record
}

function notOurs(): BadRecord {
  return new BadRecord('a line that is not a record')
}

function valueText(value: Value): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value)
    case 'bigint':
    case 'boolean':
      return String(value)
    case 'number':
      return Number.isFinite(value) ? doubleText(value) : `{"@double":"${value}"}`
  }
  if (value === null) return 'null'
  if (value instanceof Map) return objectText(value)
  if (Array.isArray(value)) return `[${value.map(valueText).join()}]`
  if (value instanceof Uint8Array) return `{"@bytes":"${encodeBase64(value)}"}`
  if (value instanceof Time) return `{"@ts":"${formatTime(value)}"}`
  if (value instanceof LocalDate) return `{"@date":"${formatDate(value)}"}`
  if (value instanceof Uuid) return `{"@uuid":"${value.text}"}`
  if (value instanceof UnresolvedRef) return referenceText(value)
  if (value instanceof Lambda) {
    const parameters = JSON.stringify(value.parameters)
    return `{"@query":[${JSON.stringify(value.apiVersion)},${parameters},${valueText(value.body)}]}`
  }
  throw new BadRecord('a value that cannot be stored')
}

/** Doubles that JSON numbers cannot express. */
const specialDoubles: ReadonlyMap<string, number> = new Map(
  [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY].map(value => [String(value), value]),
)

function objectText(value: ReadonlyMap<string, Value>): string {
  let text = ''
  let isEscaped = false
  for (const [name, field] of value) {
    if (name.charCodeAt(0) === 0x40) isEscaped = true
    text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${valueText(field)}`
  }
  return isEscaped ? `{"@obj":{${text}}}` : `{${text}}`
}

function referenceText({ target }: UnresolvedRef): string {
  switch (target.type) {
    case 'document': {
      const collection = target.collection.target
      const isPlain = collection.type === 'collection' && collection.scope === undefined
      return isPlain ? `{"@doc":[${JSON.stringify(collection.name)},${target.id}]}` : '{"@doc":[null,0]}'
    }
    case 'key':
    case 'native':
      throw new BadRecord('a reference that cannot be stored')
    default:
      // The store cannot contain a reference into another database, so `@doc` contains null and 0 instead of a target.
      return target.scope === undefined
        ? `{"@named":["${target.type}",${JSON.stringify(target.name)}]}`
        : '{"@doc":[null,0]}'
  }
}

function readValue(json: Json): Value {
  if (Array.isArray(json)) return json.map(readValue)
  if (!(json instanceof Map)) return json
  const [first] = json
  if (json.size === 1 && first !== undefined && first[0].charCodeAt(0) === 0x40)
    return tagged(first[0], first[1])
  return fieldsOf(json)
}

function fieldsOf(json: ReadonlyMap<string, Json>): ReadonlyMap<string, Value> {
  const fields = new Map<string, Value>()
  for (const [name, field] of json) fields.set(name, readValue(field))
  return fields
}

function tagged(tag: string, content: Json): Value {
  const value = typeof content === 'string' ? scalar(tag, content) : compound(tag, content)
  if (value === undefined) throw notOurs()
  return value
}

function scalar(tag: string, text: string): Value | undefined {
  if (tag === '@double') return specialDoubles.get(text)
  return Object.hasOwn(textTags, tag) ? textTags[tag]?.[1](text) : undefined
}

function compound(tag: string, content: Json): Value | undefined {
  if (tag === '@obj') return content instanceof Map ? fieldsOf(content) : undefined
  if (!Array.isArray(content)) return undefined
  const [first, second, third] = content as readonly Json[]
  switch (tag) {
    case '@doc':
      return typeof second === 'bigint'
        ? documentReference(typeof first === 'string' ? first : '', second)
        : undefined
    case '@named':
      return isSchemaKind(first) && typeof second === 'string' ? schemaReference(first, second) : undefined
    case '@query':
      return typeof first === 'string' && isParameters(second) && third !== undefined
        ? new Lambda(first, second, readValue(third))
        : undefined
    default:
      return undefined
  }
}

function isSchemaKind(json: Json | undefined): json is SchemaKind {
  return typeof json === 'string' && Object.hasOwn(nativeOfKind, json)
}

function isParameters(json: Json | undefined): json is string | readonly string[] {
  return typeof json === 'string' || (Array.isArray(json) && json.every(name => typeof name === 'string'))
}
