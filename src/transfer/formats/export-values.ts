// Values of the hosted service's exports in the tagged format: `@int @long @double @date @time @bytes @uuid @ref
// @object @mod`, as version 10 prints them. What the original printed as a text only (indexes, lambdas) is read back
// as far as it can be.

import { decodeBase64 } from '../../values/base64.ts'
import { parseDate } from '../../values/date.ts'
import { parseTime } from '../../values/time.ts'
import { parseUuid } from '../../values/uuid.ts'
import type { Json, ObjectValue, Value } from '../../values/value.ts'
import { BadRecord, type Notes, type Origin } from '../record.ts'
import {
  documentReference,
  kindOf,
  nativeCollection,
  nativeInExport,
  readId,
  schemaReference,
} from '../references.ts'
import { driverValue } from './driver-values.ts'

/** What reading a value needs to know of the document it stands in. */
export interface ValuePlace {
  readonly collection: string
  readonly origin: Origin
  readonly notes: Notes
  /** Whether the metadata of the export names a collection. */
  readonly isUserCollection: (name: string) => boolean
}

/** What the original printed for a lambda. */
export const printedLambda = '[function <lambda>]'
const printedIndex = /^\[legacy index (.+)\]$/

/** Whether a text looks like something that the original printed. */
export function isPrinted(text: string): boolean {
  return text === printedLambda || printedIndex.test(text)
}

/** A value in the tagged notation. Throws {@link BadRecord} for tags that cannot be read. */
export function taggedValue(json: Json, place: ValuePlace): Value {
  if (json instanceof Map) return taggedOrObject(json, place)
  if (Array.isArray(json)) return json.map(element => taggedValue(element, place))
  if (typeof json === 'string') return textOrPrinted(json, place)
  return json as Value
}

/** The fields of an object, whatever their names. */
function taggedFields(json: ReadonlyMap<string, Json>, place: ValuePlace): ObjectValue {
  const fields = new Map<string, Value>()
  for (const [name, field] of json) fields.set(name, taggedValue(field, place))
  return fields
}

/** A text, unless it is what the original printed for an index or a lambda. */
export function textOrPrinted(text: string, { collection, notes, origin }: ValuePlace): Value {
  if (!text.startsWith('[')) return text
  if (text === printedLambda) {
    notes.lost('a stored lambda, of which the export holds a mark only', collection, origin)
    return null
  }
  const index = printedIndex.exec(text)?.[1]
  return index === undefined ? text : schemaReference('index', index)
}

type Read = (text: string) => Value | undefined

const readers: Readonly<Record<string, Read>> = {
  '@int': readInteger,
  '@long': readInteger,
  '@double': readDouble,
  '@date': parseDate,
  '@time': parseTime,
  '@bytes': decodeBase64,
  '@uuid': parseUuid,
  '@string': text => text,
}

function taggedOrObject(json: ReadonlyMap<string, Json>, place: ValuePlace): Value {
  const [first] = json
  if (first === undefined || json.size !== 1 || !first[0].startsWith('@')) return taggedFields(json, place)
  const [tag, content] = first
  const read = Object.hasOwn(readers, tag) ? readers[tag] : undefined
  if (read) {
    const value = typeof content === 'string' ? read(content) : undefined
    if (value === undefined) throw new BadRecord(`${JSON.stringify(content)} cannot be read as ${tag}`)
    return value
  }
  if (tag === '@object' && content instanceof Map) return objectOrQuery(content, place)
  if (tag === '@ref') return reference(content, place)
  if (tag === '@mod') return moduleReference(content, place)
  throw new BadRecord(`an unknown tag ${tag}`)
}

/** An escaped object. A lambda written by Terrarium stands in one, as sets do. */
function objectOrQuery(content: ReadonlyMap<string, Json>, place: ValuePlace): Value {
  const query = content.size === 1 ? content.get('@query') : undefined
  return query instanceof Map ? driverValue(content) : taggedFields(content, place)
}

function readInteger(text: string): bigint | undefined {
  if (!/^-?[0-9]{1,19}$/.test(text)) return undefined
  const value = BigInt(text)
  return BigInt.asIntN(64, value) === value ? value : undefined
}

function readDouble(text: string): number | undefined {
  if (text === 'NaN') return Number.NaN
  const value = text.trim() === '' ? Number.NaN : Number(text)
  return Number.isNaN(value) ? undefined : value
}

/** A reference: `{id, coll}` for documents, `{name, coll}` for what has a name. */
function reference(content: Json, place: ValuePlace): Value {
  const fields = content instanceof Map ? content : new Map<string, Json>()
  const coll = fields.get('coll')
  const collection = coll instanceof Map ? coll.get('@mod') : coll
  if (typeof collection !== 'string') throw new BadRecord('an @ref without a collection')
  return namedReference(collection, fields.get('id'), fields.get('name'), place)
}

/** A reference by the name of its collection as version 10 says it, and an id or a name. */
export function namedReference(
  collection: string,
  id: Json | undefined,
  name: Json | undefined,
  { collection: within, isUserCollection, notes, origin }: ValuePlace,
): Value {
  // A collection of the user's may have the name of a native one.
  const known = isUserCollection(collection) ? undefined : nativeInExport(collection)
  const kind = known && kindOf(known)
  if (kind !== undefined && typeof name === 'string') return schemaReference(kind, name)
  const number = readId(id)
  if (number === undefined) throw new BadRecord(`an @ref into ${collection} without an id`)
  if (collection === 'Deleted') {
    notes.lost(
      'the collection of a reference, which was deleted: its id is kept in an object',
      within,
      origin,
    )
    return new Map<string, Value>([
      ['id', String(number)],
      ['collection', collection],
    ])
  }
  return documentReference(
    known === undefined || id === undefined ? collection : nativeCollection(known),
    number,
  )
}

/** A module as a value is the collection of that name. */
function moduleReference(content: Json, { collection, notes, origin }: ValuePlace): Value {
  if (typeof content !== 'string') throw new BadRecord('an @mod without a name')
  if (content === 'Deleted') {
    notes.lost('a reference to a deleted collection', collection, origin)
    return null
  }
  const known = nativeInExport(content)
  return schemaReference('collection', known ? nativeCollection(known) : content)
}
