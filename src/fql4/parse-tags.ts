// Parses references (`@ref`), and the tagged literals of times, dates, bytes and UUIDs. A reference is either an object
// or a path string of an older driver. The object may contain other references. The parser checks only the syntax. The
// evaluation resolves the names in references.

import { msg } from '../base/message.ts'
import { decodeBase64 } from '../values/base64.ts'
import { parseDate } from '../values/date.ts'
import { isValidName, parseId } from '../values/names.ts'
import { parseTime } from '../values/time.ts'
import { parseUuid } from '../values/uuid.ts'
import {
  int64Max,
  type Json,
  kindOfNative,
  type NativeName,
  nativeNamed,
  type Value,
} from '../values/value.ts'
import { fault, type Place, type ReferenceTarget } from './expression.ts'
import { ErrorList } from './query-errors.ts'
import { typeName } from './values/tagged.ts'

const targetTypeNames: Record<ReferenceTarget['type'], string> = {
  database: 'Database Ref',
  collection: 'Collection Ref',
  index: 'Index Ref',
  function: 'User Function Ref',
  role: 'Ref',
  access_provider: 'Ref',
  native: 'Collection Ref',
  key: 'Key Ref',
  document: 'Ref',
  self: 'Ref',
}

/** Throws `invalid expression` with the errors of all invalid parts. */
export function parseReference(json: Json, place: Place): ReferenceTarget {
  if (typeof json === 'string') return parsePath(json, place)
  if (!(json instanceof Map)) throw fault(msg`Invalid ref.`, place)
  return parseReferenceObject(json, place)
}

const referenceKeys = ['id', 'class', 'collection', 'database']

function parseReferenceObject(json: ReadonlyMap<string, Json>, place: Place): ReferenceTarget {
  if (json.size === 1 && json.has('@ref')) return parseReference(json.get('@ref') as Json, place)
  let known = 0
  for (const key of referenceKeys) if (json.has(key)) known++
  if (!json.has('id') || known !== json.size || (json.has('class') && json.has('collection'))) {
    throw fault(msg`Ref expected, Object provided.`, place)
  }
  const errors = new ErrorList()
  const id = json.get('id') as Json
  if (typeof id !== 'string' && typeof id !== 'bigint') {
    errors.add(fault(msg`String or Integer expected, ${typeName(id)} provided.`, place, 'id').errors)
  }
  // In the protocol, the position is `class`, even for the newer key `collection`.
  const collection = errors.collectFrom(() =>
    parsePart(json.get('collection') ?? json.get('class'), place.at('class')),
  )
  const database = errors.collectFrom(() => parsePart(json.get('database'), place.at('database')))
  if (database && database.type !== 'database') {
    const found = targetTypeNames[database.type]
    errors.add(fault(msg`Database Ref expected, ${found} provided.`, place, 'database').errors)
  }
  errors.throwIfAny()
  return targetOf(id as string | bigint, collection, database, place)
}

/** The tag `@ref` is optional. Returns undefined if `json` is undefined or null. */
function parsePart(json: Json | undefined, place: Place): ReferenceTarget | undefined {
  if (json === undefined || json === null) return undefined
  if (!(json instanceof Map)) throw fault(msg`Ref expected, ${typeName(json)} provided.`, place)
  return parseReferenceObject(json, place)
}

function targetOf(
  id: string | bigint,
  collection: ReferenceTarget | undefined,
  database: ReferenceTarget | undefined,
  place: Place,
): ReferenceTarget {
  if (!collection) {
    if (typeof id !== 'string') throw fault(msg`String expected, Number provided.`, place, 'id')
    const name = nativeNamed(id)
    if (!name) throw fault(msg`Valid native collection name expected, '${id}' provided.`, place, 'id')
    return scoped({ type: 'native', name }, database)
  }
  if (collection.type === 'native') return inNative(id, collection, database, place)
  if (collection.type !== 'collection') {
    throw fault(msg`Collection Ref expected, ${targetTypeNames[collection.type]} provided.`, place, 'class')
  }
  return documentTarget(id, collection, database, place)
}

function inNative(
  id: string | bigint,
  collection: Extract<ReferenceTarget, { type: 'native' }>,
  database: ReferenceTarget | undefined,
  place: Place,
): ReferenceTarget {
  const scope = database ?? collection.scope
  const kind = kindOfNative.get(collection.name)
  if (kind) {
    if (typeof id !== 'string') throw fault(msg`String expected, Number provided.`, place, 'id')
    return scoped({ type: kind, name: id }, scope)
  }
  if (collection.name === 'keys') {
    if (id === 'self') throw fault(msg`Invalid ref.`, place)
    return scoped({ type: 'key', id: documentId(id, place) }, scope)
  }
  return documentTarget(id, collection, database, place)
}

function documentTarget(
  id: string | bigint,
  collection: ReferenceTarget,
  database: ReferenceTarget | undefined,
  place: Place,
): ReferenceTarget {
  if (database) throw fault(msg`Null expected, Database Ref provided.`, place, 'database')
  if (id === 'self') return { type: 'self', collection }
  return { type: 'document', id: documentId(id, place), collection }
}

function scoped<T extends object>(target: T, scope: ReferenceTarget | undefined): T {
  return scope ? { ...target, scope } : target
}

function documentId(id: string | bigint, place: Place): bigint {
  if (typeof id === 'bigint') return id
  const parsed = parseId(id)
  if (typeof parsed === 'bigint') return parsed
  if (parsed === 'too large') throw fault(msg`The id provided is too large: '${id}'`, place, 'id')
  throw fault(msg`Number or numeric String expected, non-numeric '${id}' provided.`, place, 'id')
}

/** Parses paths of older drivers, such as `classes/spells/181388642046968320`, `indexes/by_name` or `tokens/self`. */
function parsePath(text: string, place: Place): ReferenceTarget {
  const steps = text.split('/')
  const name = nativeNamed(steps[0] ?? '')
  const target = name && pathTarget(name, steps.slice(1))
  if (!target) throw fault(msg`Invalid ref.`, place)
  return target
}

function pathTarget(name: NativeName, steps: readonly string[]): ReferenceTarget | undefined {
  const [first, second] = steps
  const collection: ReferenceTarget = { type: 'native', name }
  if (first === undefined) return collection
  const kind = kindOfNative.get(name)
  if (!kind) return steps.length === 1 ? pathDocument(first, collection) : undefined
  // In paths, the protocol reserves these names.
  if (!isValidName(first) || ['_', 'self', 'events'].includes(first)) return undefined
  const object: ReferenceTarget = { type: kind, name: first }
  if (second === undefined) return object
  return kind === 'collection' && steps.length === 2 ? pathDocument(second, object) : undefined
}

function pathDocument(id: string, collection: ReferenceTarget): ReferenceTarget | undefined {
  const ofKeys = collection.type === 'native' && collection.name === 'keys'
  if (id === 'self') return ofKeys ? undefined : { type: 'self', collection }
  if (!/^\d{1,19}$/.test(id) || BigInt(id) > int64Max) return undefined
  return ofKeys ? { type: 'key', id: BigInt(id) } : { type: 'document', id: BigInt(id), collection }
}

const readers: Readonly<Record<string, readonly [name: string, read: (text: string) => Value | undefined]>> =
  {
    '@ts': ['time', parseTime],
    '@date': ['date', parseDate],
    '@bytes': ['bytes', decodeBase64],
    '@uuid': ['UUID', text => parseUuid(text)],
  }

/** Returns undefined for tags other than `@ts`, `@date`, `@bytes` and `@uuid`. Throws `invalid expression`. */
export function parseLiteralTag(tag: string, content: Json, place: Place): Value | undefined {
  const reader = Object.hasOwn(readers, tag) ? readers[tag] : undefined
  if (!reader) return undefined
  const [name, read] = reader
  const value = typeof content === 'string' ? read(content) : undefined
  if (value !== undefined) return value
  throw fault(msg`Invalid ${name}.`, place)
}
