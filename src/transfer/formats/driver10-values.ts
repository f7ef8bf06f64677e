// Reads values of the driver of version 10 as printed by `JSON.stringify`, which turns their classes into plain
// objects.

import { parseDate } from '../../values/date.ts'
import { parseTime } from '../../values/time.ts'
import type { Json, Value } from '../../values/value.ts'
import { convert } from '../field-types.ts'
import { schemaReference } from '../references.ts'
import { namedReference } from './export-values.ts'
import type { ElementContext } from './format.ts'
import type { Notation } from './notation.ts'
import { plainNotation } from './plain-values.ts'

/** The notation. It throws `BadRecord` for a value that does not fit its type. */
export function driver10Notation(place: ElementContext): Notation {
  const plain = plainNotation(place)
  return (json, path) => {
    if (!(json instanceof Map)) return plain(json, path)
    const type = place.types.get(place.collection, path)
    return typeof type === 'object' ? convert(json, type) : known(json, place)
  }
}

/** Reads times, dates, references, modules and bytes. */
function known(json: ReadonlyMap<string, Json>, place: ElementContext): Value | undefined {
  const time = only(json, 'isoString')
  if (time !== undefined) return parseTime(time)
  const date = only(json, 'dateString')
  if (date !== undefined) return parseDate(date)
  const module = only(json, 'name')
  const coll = json.get('coll')
  if (coll instanceof Map && (json.has('id') || json.has('name'))) {
    const collection = only(coll, 'name')
    // A document that was fetched together with the referring document replaces its reference.
    if (collection !== undefined) return namedReference(collection, json.get('id'), json.get('name'), place)
  }
  if (module !== undefined && place.isCollection(module)) return schemaReference('collection', module)
  return bytes(json)
}

/** The text of an object that has only this member. */
function only(json: ReadonlyMap<string, Json>, name: string): string | undefined {
  const value = json.size === 1 ? json.get(name) : undefined
  return typeof value === 'string' ? value : undefined
}

/** `{"0":222,"1":173}`: a byte array has its indexes as names. */
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
