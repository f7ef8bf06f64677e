// Values as `JSON.stringify` prints them over the driver of version 10: its classes become plain objects.

import { parseDate } from '../../values/date.ts'
import { parseTime } from '../../values/time.ts'
import type { Json, Value } from '../../values/value.ts'
import { convert } from '../field-types.ts'
import { schemaReference } from '../references.ts'
import { namedReference } from './export-values.ts'
import { type PlainPlace, plainValue } from './plain-values.ts'

/** A value of that notation. Throws `BadRecord` when it does not fit the type it has. */
export function driver10Value(json: Json, path: string, place: PlainPlace): Value {
  if (Array.isArray(json)) return json.map(element => driver10Value(element, path, place))
  if (!(json instanceof Map)) return plainValue(json, path, place)
  const type = place.types.get(place.collection, path)
  if (type !== undefined && typeof type === 'object') return convert(json, type, path)
  return known(json, place) ?? mapped(json, path, place)
}

function mapped(json: ReadonlyMap<string, Json>, path: string, place: PlainPlace): Value {
  const fields = new Map<string, Value>()
  for (const [name, field] of json) fields.set(name, driver10Value(field, `${path}.${name}`, place))
  return fields
}

/** Times, dates, references, modules and bytes. */
function known(json: ReadonlyMap<string, Json>, place: PlainPlace): Value | undefined {
  const time = only(json, 'isoString')
  if (time !== undefined) return parseTime(time)
  const date = only(json, 'dateString')
  if (date !== undefined) return parseDate(date)
  const module = only(json, 'name')
  const coll = json.get('coll')
  if (coll instanceof Map && (json.has('id') || json.has('name'))) {
    const collection = only(coll, 'name')
    // A document that was fetched along with the one that refers to it stands in the place of the reference.
    if (collection !== undefined) return namedReference(collection, json.get('id'), json.get('name'), place)
  }
  if (module !== undefined && place.isCollection(module)) return schemaReference('collection', module)
  return bytes(json)
}

/** The text that is all of an object. */
function only(json: ReadonlyMap<string, Json>, name: string): string | undefined {
  const value = json.size === 1 ? json.get(name) : undefined
  return typeof value === 'string' ? value : undefined
}

/** `{"0":222,"1":173}`: an array of bytes has its places as names. */
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
