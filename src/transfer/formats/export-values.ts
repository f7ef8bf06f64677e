// Reads values of the hosted service's exports in the tagged format of version 10: `@int @long @double @date @time
// @bytes @uuid @ref @object @mod`. Values that the original printed only as text (indexes, lambdas) are restored as far
// as possible.

import { decodeBase64 } from '../../values/base64.ts'
import { parseDate } from '../../values/date.ts'
import { parseTime } from '../../values/time.ts'
import { parseUuid } from '../../values/uuid.ts'
import { type Json, kindOfNative, type Value } from '../../values/value.ts'
import { BadRecord } from '../record.ts'
import {
  documentReference,
  nativeCollection,
  nativeInExport,
  readId,
  schemaReference,
} from '../references.ts'
import { driverValue } from './driver-values.ts'
import type { ElementContext } from './format.ts'
import { faultOfId, type Notation, readFields, readTextTag, type TextTags, tagOf } from './notation.ts'

/** The name of a deleted collection in exports. */
export const deletedName = 'Deleted'

/** The text that the original printed for a lambda. */
export const printedLambda = '[function <lambda>]'
const printedIndex = /^\[legacy index (.+)\]$/

/** Returns whether a text looks like a placeholder of the original. */
export function isPrinted(text: string): boolean {
  return text === printedLambda || printedIndex.test(text)
}

const textTags: TextTags = {
  '@int': ['integer', readInteger],
  '@long': ['integer', readInteger],
  '@double': ['number', readDouble],
  '@date': ['date', parseDate],
  '@time': ['time', parseTime],
  '@bytes': ['base64 text', decodeBase64],
  '@uuid': ['UUID', parseUuid],
  '@string': ['text', text => text],
}

/** The tagged notation. It throws {@link BadRecord} for invalid tags. */
export function taggedNotation(place: ElementContext): Notation {
  const notation: Notation = (json, path) => {
    if (typeof json === 'string') return textOrPrinted(json, place)
    const [tag, content] = tagOf(json) ?? []
    if (tag === undefined || content === undefined) return undefined
    if (tag === '@ref') return reference(content, place)
    if (tag === '@mod') return moduleReference(content, place)
    const value =
      tag === '@object' && content instanceof Map
        ? // Terrarium writes lambdas and sets within an escaped object.
          tagOf(content)?.[0] === '@query'
          ? driverValue(content, path)
          : readFields(content, path, notation)
        : readTextTag(textTags, tag, content)
    if (value === undefined) throw new BadRecord(`an unknown tag ${tag}`)
    return value
  }
  return notation
}

/** Reads a text, or the placeholder of an index or a lambda. */
export function textOrPrinted(text: string, { collection, notes, origin }: ElementContext): Value {
  if (!text.startsWith('[')) return text
  if (text === printedLambda) {
    notes.lost('a stored lambda, for which the export has only a placeholder', collection, origin)
    return null
  }
  const index = printedIndex.exec(text)?.[1]
  return index === undefined ? text : schemaReference('index', index)
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

/** Reads a reference: `{id, coll}` for documents, `{name, coll}` for named objects. */
function reference(content: Json, place: ElementContext): Value {
  const fields = content instanceof Map ? content : new Map<string, Json>()
  const coll = fields.get('coll')
  const collection = coll instanceof Map ? coll.get('@mod') : coll
  if (typeof collection !== 'string') throw new BadRecord('an @ref without a collection')
  return namedReference(collection, fields.get('id'), fields.get('name'), place)
}

/** A reference from the name of its collection in version 10, and an id or a name. */
export function namedReference(
  collection: string,
  id: Json | undefined,
  name: Json | undefined,
  { collection: within, isUserCollection, notes, origin }: ElementContext,
): Value {
  // A user collection may have the name of a native one.
  const isUsers = isUserCollection(collection) && typeof name !== 'string'
  const known = isUsers ? undefined : nativeInExport(collection)
  const kind = known && kindOfNative.get(known)
  if (kind !== undefined && typeof name === 'string') return schemaReference(kind, name)
  const number = readId(id)
  if (number === undefined) throw new BadRecord(`a reference into ${collection} ${faultOfId(id)}`)
  if (collection === deletedName && !isUsers) {
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

/** A module as a value means the collection with that name. */
function moduleReference(content: Json, { collection, notes, origin }: ElementContext): Value {
  if (typeof content !== 'string') throw new BadRecord('an @mod without a name')
  if (content === deletedName) {
    notes.lost('a reference to a deleted collection', collection, origin)
    return null
  }
  const known = nativeInExport(content)
  return schemaReference('collection', known ? nativeCollection(known) : content)
}
