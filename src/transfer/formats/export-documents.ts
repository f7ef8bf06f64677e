// Documents as version 10 shows them (user fields at the top level), in the three notations in which files hold them:
// tagged exports, simple exports, and `JSON.stringify` over the driver of version 10.

import { microsOfTime, parseTime } from '../../values/time.ts'
import {
  isObject,
  type Json,
  type Micros,
  type ObjectValue,
  type Time,
  type Value,
} from '../../values/value.ts'
import { BadRecord, credentialsName, type FoundDocument } from '../record.ts'
import { readId } from '../references.ts'
import { driver10Value } from './driver10-values.ts'
import { taggedValue } from './export-values.ts'
import type { ElementContext, ReadElement } from './format.ts'
import { plainValue } from './plain-values.ts'

/** Reads one field of a document. */
type ReadField = (json: Json, path: string, place: ElementContext) => Value

/** A document of a tagged export: `{"id":"101","coll":{"@mod":"Product"},"ts":{"@time":…},…}`. */
export const readTagged: ReadElement = (element, context) =>
  readDocument(element, context, 'coll.@mod', (json, _path, place) => taggedValue(json, place))

/** A document of a simple export: `{"id":"101","coll":"Product","ts":"…",…}`. */
export const readSimple: ReadElement = (element, context) =>
  readDocument(element, context, 'coll', plainValue)

/** What `JSON.stringify` makes of a document of the driver of version 10: `{"coll":{"name":"Product"},"id":…}`. */
export const readDriver10: ReadElement = (element, context) =>
  readDocument(element, context, 'coll.name', driver10Value)

function readDocument(
  element: Json,
  context: ElementContext,
  shape: 'coll' | 'coll.@mod' | 'coll.name',
  readField: ReadField,
): readonly FoundDocument[] {
  if (!(element instanceof Map)) throw new BadRecord('no object')
  const coll = element.get('coll')
  const [, inner] = shape.split('.')
  const name = inner === undefined ? coll : coll instanceof Map ? coll.get(inner) : undefined
  if (typeof name !== 'string') throw new BadRecord('it does not say its collection (`coll`)')
  const id = readId(element.get('id'))
  if (id === undefined) throw new BadRecord('it has no id')
  const collection = name === 'Credential' ? credentialsName : name
  const place = { ...context, collection }
  const version = element.get('@version')
  return [
    {
      kind: 'document',
      collection,
      id,
      ts: timeOf(element.get('ts')),
      isHistory: version !== undefined,
      isDelete: version === 'delete',
      fields:
        collection === credentialsName
          ? credentials(element, place, readField)
          : fieldsOf(element, place, readField),
    },
  ]
}

/** `@version` marks the lines of a history, which Terrarium alone exports; no field of a document has that name. */
const ownMembers = new Set(['id', 'coll', 'ts', 'ttl', 'data', '@version'])

function fieldsOf(
  element: ReadonlyMap<string, Json>,
  place: ElementContext,
  readField: ReadField,
): ObjectValue {
  const data = new Map<string, Value>()
  for (const [name, json] of element) if (!ownMembers.has(name)) data.set(name, readField(json, name, place))
  // Fields with reserved names stand in `data`.
  const given = element.get('data')
  const more = given instanceof Map && given.size === 1 ? (given.get('@object') ?? given) : given
  if (more instanceof Map) for (const [name, json] of more) data.set(name, readField(json, name, place))
  else if (more !== undefined && more !== null) throw new BadRecord('its `data` is no object')
  const fields = new Map<string, Value>()
  if (data.size > 0) fields.set('data', data)
  const ttl = instant(element.get('ttl'))
  if (ttl !== undefined) fields.set('ttl', ttl)
  return fields
}

/** Password hashes: what version 10 calls `document` is the `instance`. */
function credentials(
  element: ReadonlyMap<string, Json>,
  place: ElementContext,
  readField: ReadField,
): ObjectValue {
  const json = element.get('document')
  const hash = element.get('hashed_password')
  if (json === undefined) throw new BadRecord('credentials without a `document`')
  const types = place.types
  const isCollection = () => true
  const fields = new Map<string, Value>([
    ['instance', readField(json, 'document', { ...place, types, isCollection })],
  ])
  if (typeof hash === 'string') fields.set('hashed_password', hash)
  const ttl = instant(element.get('ttl'))
  if (ttl !== undefined) fields.set('ttl', ttl)
  const data = element.get('data')
  if (data !== undefined && data !== null) {
    const value = readField(data, 'data', place)
    if (isObject(value)) fields.set('data', value)
  }
  return fields
}

/** An instant in any of the notations. */
function instant(json: Json | undefined): Time | undefined {
  if (json === undefined || json === null) return undefined
  const text = json instanceof Map ? (json.get('@time') ?? json.get('isoString')) : json
  const time = typeof text === 'string' ? parseTime(text) : undefined
  if (time === undefined) throw new BadRecord('a time (`ts` or `ttl`) that cannot be read')
  return time
}

function timeOf(json: Json | undefined): Micros | undefined {
  const time = instant(json)
  return time && Number(microsOfTime(time))
}
