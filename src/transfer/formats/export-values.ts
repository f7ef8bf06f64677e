// Reads values of the exports of Fauna's hosted service in the tagged format of version 10, with the tags `@int`,
// `@long`, `@double`, `@date`, `@time`, `@bytes`, `@uuid`, `@ref`, `@object` and `@mod`. The hosted service wrote
// indexes and lambdas only as placeholder texts: references to indexes are restored, and lambdas are reported as lost.
// Also reads formats without types (`simple` exports, rows of JSON and CSV): types given by the user are applied, and
// texts that look like another type are reported.

import { decodeBase64 } from '../../values/base64.ts'
import { parseDate } from '../../values/date.ts'
import { parseTime } from '../../values/time.ts'
import { parseUuid } from '../../values/uuid.ts'
import { type Json, kindOfNative, type Value } from '../../values/value.ts'
import { convert } from '../field-types.ts'
import { BadRecord } from '../record.ts'
import {
  deletedCollection,
  documentReference,
  nativeCollection,
  nativeInExport,
  readId,
  schemaReference,
} from '../references.ts'
import { textTags as driverTextTags, driverValue } from './driver-values.ts'
import type { ElementContext } from './format.ts'
import {
  faultOfId,
  readFields,
  readTextTag,
  type SpecialFormReader,
  type TextTags,
  tagOf,
} from './special-forms.ts'

/** Stands for a lambda in exports of the hosted service. */
export const lambdaPlaceholder = '[function <lambda>]'
const indexPlaceholder = /^\[legacy index (.+)\]$/

/** True for a text that looks like a placeholder of the hosted service. */
export function isPlaceholder(text: string): boolean {
  return text === lambdaPlaceholder || indexPlaceholder.test(text)
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

/** Throws {@link BadRecord} for invalid tags. */
export function taggedFormReader(context: ElementContext): SpecialFormReader {
  const readSpecial: SpecialFormReader = (json, path) => {
    if (typeof json === 'string') return textOrPlaceholder(json, context)
    const [tag, content] = tagOf(json) ?? []
    if (tag === undefined || content === undefined) return undefined
    if (tag === '@ref') return reference(content, context)
    if (tag === '@mod') return moduleReference(content, context)
    const value =
      tag === '@object' && content instanceof Map
        ? // In exports of Terrarium, a lambda or a set is an `@query` inside an `@object`.
          tagOf(content)?.[0] === '@query'
          ? driverValue(content, path)
          : readFields(content, path, readSpecial)
        : readTextTag(textTags, tag, content)
    if (value === undefined) throw new BadRecord(`an unknown tag ${tag}`)
    return value
  }
  return readSpecial
}

/**
 * True for a tagged object in the notation of version 10 that has no meaning in version 4. A reference of version 10
 * names its collection in `coll`.
 */
export function isTagged10(tag: string, content: Json): boolean {
  if (tag === '@ref') return content instanceof Map && content.has('coll')
  return tag === '@mod' || (Object.hasOwn(textTags, tag) && !Object.hasOwn(driverTextTags, tag))
}

/** Reads a text, or the placeholder of an index or a lambda. */
function textOrPlaceholder(text: string, { collection, notes, origin }: ElementContext): Value {
  if (!text.startsWith('[')) return text
  if (text === lambdaPlaceholder) {
    notes.lost('a stored lambda, for which the export has only a placeholder', collection, origin)
    return null
  }
  const index = indexPlaceholder.exec(text)?.[1]
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

/** `{id, coll}` for documents, `{name, coll}` for named objects. */
function reference(content: Json, context: ElementContext): Value {
  const fields = content instanceof Map ? content : new Map<string, Json>()
  const coll = fields.get('coll')
  const collection = coll instanceof Map ? coll.get('@mod') : coll
  if (typeof collection !== 'string') throw new BadRecord('an @ref without a collection')
  return namedReference(collection, fields.get('id'), fields.get('name'), context)
}

/** A document or schema object, by id or name. `collection`: version 10's name of the target's collection. */
export function namedReference(
  collection: string,
  id: Json | undefined,
  name: Json | undefined,
  { collection: ownCollection, isUserCollection, notes, origin }: ElementContext,
): Value {
  // A user collection may have the name of a native collection.
  const isUser = isUserCollection(collection) && typeof name !== 'string'
  const known = isUser ? undefined : nativeInExport(collection)
  const kind = known && kindOfNative.get(known)
  if (kind !== undefined && typeof name === 'string') return schemaReference(kind, name)
  const number = readId(id)
  if (number === undefined) throw new BadRecord(`a reference into ${collection} ${faultOfId(id)}`)
  if (collection === deletedCollection && !isUser) {
    notes.lost(
      'the collection of a reference, which was deleted: its id is kept in an object',
      ownCollection,
      origin,
    )
    return new Map<string, Value>([
      ['id', String(number)],
      ['collection', collection],
    ])
  }
  return documentReference(known === undefined ? collection : nativeCollection(known), number)
}

/** `@mod` is a reference to the collection `content`. */
function moduleReference(content: Json, { collection, notes, origin }: ElementContext): Value {
  if (typeof content !== 'string') throw new BadRecord('an @mod without a name')
  if (content === deletedCollection) {
    notes.lost('a reference to a deleted collection', collection, origin)
    return null
  }
  const known = nativeInExport(content)
  return schemaReference('collection', known ? nativeCollection(known) : content)
}

/** Throws `BadRecord` for a value that does not fit the type given by the user. */
export function plainFormReader(context: ElementContext): SpecialFormReader {
  return (json, path) => {
    if (Array.isArray(json)) return undefined
    const type = context.types.get(context.collection, path)
    if (type !== undefined) return convert(json, type)
    if (json instanceof Map) return plainReference(json, context)
    if (typeof json !== 'string') return undefined
    reportLookalike(json, path, context)
    return textOrPlaceholder(json, context)
  }
}

/** Reads an object as a reference, if `coll` is a known collection, and an id or a name is the only other member. */
function plainReference(json: ReadonlyMap<string, Json>, context: ElementContext): Value | undefined {
  const coll = json.get('coll')
  if (json.size !== 2 || typeof coll !== 'string') return undefined
  const [id, name] = [json.get('id'), json.get('name')]
  const isKnown =
    readId(id) === undefined
      ? typeof name === 'string' && nativeInExport(coll) !== undefined && !context.isUserCollection(coll)
      : coll === deletedCollection || context.isCollection(coll)
  return isKnown ? namedReference(coll, id, name, context) : undefined
}

const timeLike = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/
const dateLike = /^\d{4}-\d\d-\d\d$/
const uuidLike = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i

function reportLookalike(text: string, path: string, { collection, notes }: ElementContext): void {
  // Most texts are too short or too long, and need no comparison.
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
