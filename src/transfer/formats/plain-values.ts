// Values of formats that say less than there was: `simple` exports, rows of JSON and CSV. Types that the user gave are
// applied; what stays a text though it looks like something else is noted.

import type { Json, ObjectValue, Value } from '../../values/value.ts'
import { convert, type FieldTypes } from '../field-types.ts'
import { readId } from '../references.ts'
import { namedReference, textOrPrinted, type ValuePlace } from './export-values.ts'

/** Where in a file a plain value stands. */
export interface PlainPlace extends ValuePlace {
  readonly types: FieldTypes
  /** Whether an object of exactly `id` and `coll` is a reference to a document of that collection. */
  readonly isCollection: (name: string) => boolean
}

/** A value at a path of names with points in between. Throws `BadRecord` when it does not fit its type. */
export function plainValue(json: Json, path: string, place: PlainPlace): Value {
  if (Array.isArray(json)) return json.map(element => plainValue(element, path, place))
  const type = place.types.get(place.collection, path)
  if (type !== undefined) return convert(json, type, path)
  if (json instanceof Map) return referenceOrObject(json, path, place)
  if (typeof json === 'string') {
    noteLookalike(json, path, place)
    return textOrPrinted(json, place)
  }
  return json as Value
}

function referenceOrObject(json: ReadonlyMap<string, Json>, path: string, place: PlainPlace): Value {
  const coll = json.get('coll')
  if (json.size === 2 && typeof coll === 'string' && place.isCollection(coll)) {
    const isReference = readId(json.get('id')) !== undefined || typeof json.get('name') === 'string'
    if (isReference) return namedReference(coll, json.get('id'), json.get('name'), place)
  }
  return plainFields(json, `${path}.`, place)
}

/** The fields of an object. */
function plainFields(json: ReadonlyMap<string, Json>, prefix: string, place: PlainPlace): ObjectValue {
  const fields = new Map<string, Value>()
  for (const [name, field] of json) fields.set(name, plainValue(field, prefix + name, place))
  return fields
}

const timeLike = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/
const dateLike = /^\d{4}-\d\d-\d\d$/
const uuidLike = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

function noteLookalike(text: string, path: string, { collection, notes }: PlainPlace): void {
  if (text.length < 10 || text.length > 40) return
  const type = timeLike.test(text)
    ? 'time'
    : dateLike.test(text)
      ? 'date'
      : uuidLike.test(text)
        ? 'uuid'
        : undefined
  if (type !== undefined) notes.lookalike(collection, path, type)
}
