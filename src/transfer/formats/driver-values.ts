// Values as drivers of version 4 write them, of all API versions: `@ref @ts @date @bytes @uuid @set @query @obj`,
// references as objects or, in the oldest version, as paths. It is also the form in which records travel to a service.

import { decodeBase64 } from '../../values/base64.ts'
import { parseDate } from '../../values/date.ts'
import { parseTime } from '../../values/time.ts'
import { parseUuid } from '../../values/uuid.ts'
import {
  type Json,
  Lambda,
  type NativeName,
  type ObjectValue,
  UnresolvedRef,
  type Value,
} from '../../values/value.ts'
import { BadRecord } from '../record.ts'
import { kindOf, nativeCollection, nativeInDriver, readId, schemaReference } from '../references.ts'

/** A value in the notation of the wire. Throws {@link BadRecord} for tags that cannot be read. */
export function driverValue(json: Json): Value {
  if (json instanceof Map) return taggedOrObject(json)
  if (Array.isArray(json)) return json.map(driverValue)
  return json as Exclude<Json, readonly Json[] | ReadonlyMap<string, Json>>
}

/** The fields of an object, whatever their names. */
export function driverFields(json: ReadonlyMap<string, Json>): ObjectValue {
  const fields = new Map<string, Value>()
  for (const [name, field] of json) fields.set(name, driverValue(field))
  return fields
}

const texts: Readonly<Record<string, readonly [name: string, read: (text: string) => Value | undefined]>> = {
  '@ts': ['time', parseTime],
  '@date': ['date', parseDate],
  '@bytes': ['base64', decodeBase64],
  '@uuid': ['UUID', parseUuid],
}

function taggedOrObject(json: ReadonlyMap<string, Json>): Value {
  const [first] = json
  if (first === undefined || json.size !== 1 || !first[0].startsWith('@')) return driverFields(json)
  const [tag, content] = first
  const text = Object.hasOwn(texts, tag) ? texts[tag] : undefined
  if (text) {
    const [name, read] = text
    const value = typeof content === 'string' ? read(content) : undefined
    if (value === undefined) throw new BadRecord(`${JSON.stringify(content)} is no ${name} (${tag})`)
    return value
  }
  switch (tag) {
    case '@ref':
      return driverReference(content)
    case '@obj':
      if (content instanceof Map) return driverFields(content)
      break
    case '@query':
      return driverLambda(content)
    case '@set':
      // A stored set is an object with this one field.
      return new Map([['@set', driverValue(content)]])
  }
  return driverFields(json)
}

/** What stands behind `@ref`. */
export function driverReference(json: Json): UnresolvedRef {
  if (typeof json === 'string') return pathReference(json)
  if (!(json instanceof Map)) throw badReference(json)
  const inner = json.get('@ref')
  if (inner !== undefined) return driverReference(inner)
  const id = json.get('id')
  const container = json.get('collection') ?? json.get('class')
  const database = json.get('database')
  const scope = database === undefined || database === null ? undefined : driverReference(database)
  if (typeof id !== 'string' && typeof id !== 'bigint') throw badReference(json)
  const target =
    container === undefined ? topLevel(String(id)) : inCollection(String(id), driverReference(container))
  return scope === undefined ? target : scoped(target, scope)
}

/** A reference without a collection is a native collection. */
function topLevel(name: string): UnresolvedRef {
  const known = nativeInDriver(name)
  if (known === undefined) throw new BadRecord(`a reference to "${name}" without a collection`)
  return schemaReference('collection', nativeCollection(known))
}

function inCollection(id: string, collection: UnresolvedRef): UnresolvedRef {
  const { target } = collection
  if (target.type !== 'collection') throw new BadRecord(`"${id}" is in something that is no collection`)
  const known = target.name.startsWith('/') ? (target.name.slice(1) as NativeName) : undefined
  const kind = known && kindOf(known)
  // Names of native collections travel as names of collections.
  if (kind !== undefined) return schemaReference(kind, id)
  const number = readId(id)
  if (number === undefined) throw new BadRecord(`"${id}" is no id of a document`)
  return new UnresolvedRef({ type: 'document', id: number, collection })
}

/** References into other databases cannot be stored; they are kept apart here to be told so. */
function scoped({ target }: UnresolvedRef, scope: UnresolvedRef): UnresolvedRef {
  if (target.type === 'document')
    return new UnresolvedRef({ ...target, collection: scoped(target.collection, scope) })
  return target.type === 'native' || target.type === 'key'
    ? new UnresolvedRef(target)
    : new UnresolvedRef({ ...target, scope })
}

/** `classes/users/1`, `indexes/by_email`, `credentials/7`: references of the oldest version. */
function pathReference(path: string): UnresolvedRef {
  const [first = '', name, id, ...rest] = path.split('/')
  const known = nativeInDriver(first)
  if (known === undefined || rest.length > 0) throw badReference(path)
  if (name === undefined) return topLevel(first)
  if (id === undefined) return inCollection(name, topLevel(first))
  return inCollection(id, inCollection(name, topLevel(first)))
}

function badReference(json: Json): BadRecord {
  return new BadRecord(`an @ref that cannot be read${typeof json === 'string' ? `: "${json}"` : ''}`)
}

function driverLambda(json: Json): Value {
  const isOne = json instanceof Map && json.has('lambda') && json.has('expr')
  if (!isOne) throw new BadRecord('a @query without a lambda')
  const { lambda, expr, api_version: version } = Object.fromEntries(json) as Record<string, Json>
  const isNames = Array.isArray(lambda) && lambda.every(name => typeof name === 'string')
  if (typeof lambda !== 'string' && !isNames) throw new BadRecord('a @query with odd parameters')
  const parameters = lambda as string | readonly string[]
  return new Lambda(typeof version === 'string' ? version : '4', parameters, code(expr as Json))
}

/** Code keeps its forms; what is tagged in it stands for a value. */
function code(json: Json): Value {
  if (Array.isArray(json)) return json.map(code)
  if (!(json instanceof Map)) return json as Value
  const [first] = json
  const isTagged = json.size === 1 && first !== undefined && first[0].startsWith('@')
  if (isTagged && first[0] !== '@obj' && first[0] !== '@query' && first[0] !== '@set')
    return taggedOrObject(json)
  return new Map([...json].map(([key, part]) => [key, code(part)]))
}
