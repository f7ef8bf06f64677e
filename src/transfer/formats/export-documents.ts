// Reads documents in the layout of version 10, with user fields at the top level, in three notations: tagged exports,
// simple exports, and `JSON.stringify` of the driver of version 10, which turns instances of the driver's classes into
// plain objects.

import { parseDate } from '../../values/date.ts'
import { microsOfTime, parseTime } from '../../values/time.ts'
import { isObject, type Json, type ObjectValue, type Time, type Value } from '../../values/value.ts'
import { convert } from '../field-types.ts'
import { BadRecord, credentialsName, type SourceDocument } from '../record.ts'
import { readId, schemaReference } from '../references.ts'
import { namedReference, plainFormReader, taggedFormReader } from './export-values.ts'
import type { ElementContext, ReadElement } from './format.ts'
import {
  excerptOf,
  faultOfId,
  readFields,
  readValue,
  type SpecialFormReader,
  tagOf,
} from './special-forms.ts'

/** `{"id":"101","coll":{"@mod":"Product"},"ts":{"@time":…},…}`. */
export const readTagged: ReadElement = (element, context) =>
  readDocument(element, context, '@mod', taggedFormReader)

/** `{"id":"101","coll":"Product","ts":"…",…}`. */
export const readSimple: ReadElement = (element, context) =>
  readDocument(element, context, undefined, plainFormReader)

/** `{"coll":{"name":"Product"},"id":…}`. */
export const readDriver10: ReadElement = (element, context) =>
  readDocument(element, context, 'name', driver10FormReader)

/** `member`: of `coll`, with the collection's name. If undefined, `coll` itself is the name. */
function readDocument(
  element: Json,
  context: ElementContext,
  member: '@mod' | 'name' | undefined,
  formReaderOf: (context: ElementContext) => SpecialFormReader,
): SourceDocument {
  if (!(element instanceof Map)) throw new BadRecord('no object')
  const coll = element.get('coll')
  const name = member === undefined ? coll : coll instanceof Map ? coll.get(member) : undefined
  if (typeof name !== 'string') throw new BadRecord('it does not say its collection (`coll`)')
  const id = readId(element.get('id'))
  if (id === undefined) throw new BadRecord(`a document ${faultOfId(element.get('id'))}`)
  const collection = name === 'Credential' ? credentialsName : name
  const inner = { ...context, collection }
  const time = instant(element.get('ts'), 'ts')
  const version = element.get('@version')
  return {
    kind: 'document',
    collection,
    id,
    ts: time && Number(microsOfTime(time)),
    isHistory: version !== undefined,
    isDelete: version === 'delete',
    fields:
      collection === credentialsName
        ? // The field `document` of credentials is always a reference.
          credentials(element, formReaderOf({ ...inner, isCollection: () => true }))
        : fieldsOf(element, formReaderOf(inner)),
  }
}

/**
 * Not user fields. `@version` marks a version in the history of a document, which only exports of Terrarium contain. No
 * user field has this name.
 */
const metadataMembers = new Set(['id', 'coll', 'ts', 'ttl', 'data', '@version'])

function fieldsOf(element: ReadonlyMap<string, Json>, readSpecial: SpecialFormReader): ObjectValue {
  const data = new Map<string, Value>()
  for (const [name, json] of element)
    if (!metadataMembers.has(name)) data.set(name, readValue(json, name, readSpecial))
  // Fields with reserved names are in `data`.
  const given = element.get('data')
  const more = tagOf(given)?.[0] === '@object' ? tagOf(given)?.[1] : (given ?? new Map<string, Json>())
  if (!(more instanceof Map)) throw new BadRecord('its `data` is not an object')
  for (const [name, value] of readFields(more, '', readSpecial)) data.set(name, value)
  return withTtl(element, data.size > 0 ? [['data', data]] : [])
}

/** Reads password hashes. Version 10 calls the field `instance` `document`. */
function credentials(element: ReadonlyMap<string, Json>, readSpecial: SpecialFormReader): ObjectValue {
  const [document, hash, data] = ['document', 'hashed_password', 'data'].map(name => element.get(name))
  if (document === undefined) throw new BadRecord('credentials without a `document`')
  const fields: [string, Value][] = [['instance', readValue(document, 'document', readSpecial)]]
  if (typeof hash === 'string') fields.push(['hashed_password', hash])
  const more = readValue(data ?? null, 'data', readSpecial)
  if (isObject(more)) fields.push(['data', more])
  return withTtl(element, fields)
}

function withTtl(
  element: ReadonlyMap<string, Json>,
  fields: readonly (readonly [string, Value])[],
): ObjectValue {
  const ttl = instant(element.get('ttl'), 'ttl')
  return new Map(ttl === undefined ? fields : [...fields, ['ttl', ttl]])
}

/** Reads any of the three notations. */
function instant(json: Json | undefined, member: 'ts' | 'ttl'): Time | undefined {
  if (json === undefined || json === null) return undefined
  const text = json instanceof Map ? (json.get('@time') ?? json.get('isoString')) : json
  const time = typeof text === 'string' ? parseTime(text) : undefined
  if (time === undefined) throw new BadRecord(`${excerptOf(text ?? json)} is not a valid time`, member)
  return time
}

/** Throws `BadRecord` for a value that does not fit the type of its field. */
function driver10FormReader(context: ElementContext): SpecialFormReader {
  const plain = plainFormReader(context)
  return (json, path) => {
    if (!(json instanceof Map)) return plain(json, path)
    const type = context.types.get(context.collection, path)
    return typeof type === 'object' ? convert(json, type) : readKnownObject(json, context)
  }
}

/** Reads times, dates, references, modules and bytes. */
function readKnownObject(json: ReadonlyMap<string, Json>, context: ElementContext): Value | undefined {
  const time = onlyMember(json, 'isoString')
  if (time !== undefined) return parseTime(time)
  const date = onlyMember(json, 'dateString')
  if (date !== undefined) return parseDate(date)
  const module = onlyMember(json, 'name')
  const coll = json.get('coll')
  if (coll instanceof Map && (json.has('id') || json.has('name'))) {
    const collection = onlyMember(coll, 'name')
    // If the query also fetched the referenced document, the output contains it instead of the reference.
    if (collection !== undefined) return namedReference(collection, json.get('id'), json.get('name'), context)
  }
  if (module !== undefined && context.isCollection(module)) return schemaReference('collection', module)
  return bytes(json)
}

/** Returns undefined if the object has other members. */
function onlyMember(json: ReadonlyMap<string, Json>, name: string): string | undefined {
  const value = json.size === 1 ? json.get(name) : undefined
  return typeof value === 'string' ? value : undefined
}

/** The JSON has the indexes of the bytes as names: `{"0":222,"1":173}`. */
function bytes(json: ReadonlyMap<string, Json>): Uint8Array | undefined {
  if (json.size === 0) return undefined
  const content = new Uint8Array(json.size)
  let at = 0
  for (const [name, value] of json) {
    if (name !== String(at) || typeof value !== 'bigint' || value < 0n || value > 255n) return undefined
    content[at++] = Number(value)
  }
  return content
}
