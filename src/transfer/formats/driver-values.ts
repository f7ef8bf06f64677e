// Reads values as drivers of version 4 write them, in all API versions: `@ref @ts @date @bytes @uuid @set @query @obj`.
// In the oldest API version, a reference is a path; in all others, an object.

import { firstLambdaVersion } from '../../fql4/wire/version.ts'
import { decodeBase64 } from '../../values/base64.ts'
import { parseDate } from '../../values/date.ts'
import { parseTime } from '../../values/time.ts'
import { parseUuid } from '../../values/uuid.ts'
import {
  type Json,
  kindOfNative,
  Lambda,
  type NativeName,
  nativeNamed,
  type ObjectValue,
  UnresolvedRef,
  type Value,
} from '../../values/value.ts'
import { BadRecord } from '../record.ts'
import { nativeCollection, readId, schemaReference } from '../references.ts'
import {
  readFields,
  readTextTag,
  readValue,
  type SpecialFormReader,
  type TextTags,
  tagOf,
} from './special-forms.ts'

/** Throws {@link BadRecord} for invalid tags. */
export function driverValue(json: Json, path: string): Value {
  return readValue(json, path, readDriverForm)
}

/** A field may have any name, even the name of a tag. */
export function driverFields(json: ReadonlyMap<string, Json>): ObjectValue {
  return readFields(json, '', readDriverForm)
}

/** Tags with a text as content. */
export const textTags: TextTags = {
  '@ts': ['time', parseTime],
  '@date': ['date', parseDate],
  '@bytes': ['base64 text', decodeBase64],
  '@uuid': ['UUID', parseUuid],
}

const readDriverForm: SpecialFormReader = (json, path) => {
  const [tag, content] = tagOf(json) ?? []
  if (tag === undefined || content === undefined) return undefined
  switch (tag) {
    case '@ref':
      return driverReference(content)
    case '@obj':
      return content instanceof Map ? readFields(content, path, readDriverForm) : undefined
    case '@query':
      return driverLambda(content)
    case '@set':
      // A stored set is an object whose only field is `@set`.
      return new Map([['@set', driverValue(content, path)]])
    default:
      return readTextTag(textTags, tag, content)
  }
}

/** Reads the content of `@ref`, or a reference with the tag. */
export function driverReference(json: Json): UnresolvedRef {
  if (typeof json === 'string') return pathReference(json)
  if (!(json instanceof Map)) throw badReference(json)
  const inner = json.get('@ref')
  if (inner !== undefined) return driverReference(inner)
  const id = json.get('id')
  const collection = json.get('collection') ?? json.get('class')
  const database = json.get('database')
  const scope = database === undefined || database === null ? undefined : driverReference(database)
  if (typeof id !== 'string' && typeof id !== 'bigint') throw badReference(json)
  const target =
    collection === undefined ? topLevel(String(id)) : inCollection(String(id), driverReference(collection))
  return scope === undefined ? target : scoped(target, scope)
}

/** Reads a reference without a collection, to a native collection. */
function topLevel(name: string): UnresolvedRef {
  const known = nativeNamed(name)
  if (known === undefined) throw new BadRecord(`a reference to "${name}" without a collection`)
  return schemaReference('collection', nativeCollection(known))
}

function inCollection(id: string, collection: UnresolvedRef): UnresolvedRef {
  const { target } = collection
  if (target.type !== 'collection') throw new BadRecord(`"${id}" is in something that is not a collection`)
  const known = target.name.startsWith('/') ? (target.name.slice(1) as NativeName) : undefined
  const kind = known && kindOfNative.get(known)
  // In most native collections, the id of an object is its name.
  if (kind !== undefined) return schemaReference(kind, id)
  const number = readId(id)
  if (number === undefined) throw new BadRecord(`"${id}" is not a valid document id`)
  return new UnresolvedRef({ type: 'document', id: number, collection })
}

/**
 * Adds the database (`scope`) to a reference into another database. The store cannot contain such references, so the
 * report of the import lists them. References of drivers have no targets of the types `native` and `key`.
 */
function scoped({ target }: UnresolvedRef, scope: UnresolvedRef): UnresolvedRef {
  if (target.type === 'document')
    return new UnresolvedRef({ ...target, collection: scoped(target.collection, scope) })
  return target.type === 'native' || target.type === 'key'
    ? new UnresolvedRef(target)
    : new UnresolvedRef({ ...target, scope })
}

/** Reads a reference of the oldest API version: `classes/users/1`, `indexes/by_email`, `credentials/7`. */
function pathReference(path: string): UnresolvedRef {
  const [first = '', name, id, ...rest] = path.split('/')
  const known = nativeNamed(first)
  if (known === undefined || rest.length > 0) throw badReference(path)
  if (name === undefined) return topLevel(first)
  if (id === undefined) return inCollection(name, topLevel(first))
  return inCollection(id, inCollection(name, topLevel(first)))
}

function badReference(json: Json): BadRecord {
  return new BadRecord(`an @ref that cannot be read${typeof json === 'string' ? `: "${json}"` : ''}`)
}

function driverLambda(json: Json): Value {
  const isLambda = json instanceof Map && json.has('lambda') && json.has('expr')
  if (!isLambda) throw new BadRecord('a @query without a lambda')
  const { lambda, expr, api_version: version } = Object.fromEntries(json) as Record<string, Json>
  const isNames = Array.isArray(lambda) && lambda.every(name => typeof name === 'string')
  if (typeof lambda !== 'string' && !isNames) throw new BadRecord('a @query with invalid parameters')
  const parameters = lambda as string | readonly string[]
  const body = readValue(expr as Json, '', readCodeForm)
  return new Lambda(typeof version === 'string' ? version : firstLambdaVersion, parameters, body)
}

/**
 * Reads the special forms in the body of a lambda. The body is an expression, in which objects with the tags `@obj`,
 * `@query` or `@set` remain unchanged.
 */
const readCodeForm: SpecialFormReader = (json, path) => {
  const [tag] = tagOf(json) ?? []
  return tag === '@obj' || tag === '@query' || tag === '@set' ? undefined : readDriverForm(json, path)
}
