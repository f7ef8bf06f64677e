// Converts queries that are literal values, such as the printed results of a shell, to tagged wire JSON. The queries
// are not evaluated.

import { type Json, native, nativeOfKind } from '../../values/value.ts'
import { textLambdaVersion } from './print.ts'
import { setKeys } from './text-functions.ts'

type Fields = ReadonlyMap<string, Json>

/** The tags of values. The keys are the names of the functions that create these values from strings. */
const textTags: Readonly<Record<string, string>> = { time: '@ts', date: '@date' }

/** The native collections of schema objects. The keys are the names of the functions that return their references. */
const named: Readonly<Record<string, string>> = { ...nativeOfKind, class: 'collections' }

/** Thrown for a part of a query that is not a literal value, such as a call of `Add`. */
export class NoValueError extends Error {
  override name = 'NoValueError'
  /** The steps from the root of the query to the part that is not a literal value. */
  readonly position: readonly (string | number)[]
  constructor(position: readonly (string | number)[]) {
    super('this is not a value')
    this.position = position
  }
}

/**
 * Returns the JSON format of responses. Literal values are scalars, arrays, objects, references, times, dates, bytes,
 * sets and lambdas. Throws {@link NoValueError} for all other queries.
 */
export function valueOfQuery(query: Json, position: readonly (string | number)[] = []): Json {
  if (Array.isArray(query)) return query.map((each, index) => valueOfQuery(each, [...position, index]))
  if (!(query instanceof Map)) return query
  const value = objectValue(query, position) ?? taggedValue(query, position)
  if (value === undefined) throw new NoValueError(position)
  return value
}

function fieldsOf(fields: Fields, position: readonly (string | number)[]): Map<string, Json> {
  return new Map([...fields].map(([key, json]) => [key, valueOfQuery(json, [...position, key])]))
}

function objectValue(query: Fields, position: readonly (string | number)[]): Json | undefined {
  const written = query.size === 1 ? query.get('object') : undefined
  if (!(written instanceof Map)) return undefined
  const escaped = written.size === 1 ? written.get('@obj') : undefined
  const fields = fieldsOf(escaped instanceof Map ? escaped : written, [...position, 'object'])
  return [...fields.keys()].some(key => key.startsWith('@')) ? new Map([['@obj', fields]]) : fields
}

function taggedValue(query: Fields, position: readonly (string | number)[]): Json | undefined {
  const [key = '', content = null] = query.entries().next().value ?? []
  if (query.size === 1 && key.startsWith('@')) return query
  if (query.size === 1 && Object.hasOwn(textTags, key) && typeof content === 'string') {
    return new Map([[textTags[key] as string, content]])
  }
  if (key === 'query' && query.size === 1) {
    const lambda = lambdaOf(content)
    return lambda && new Map([['@query', lambda]])
  }
  if (setKeys.has(key)) return setValue(query, position)
  return reference(query, key, content, position)
}

/** Returns undefined if `json` is not a lambda. */
function lambdaOf(json: Json): Json | undefined {
  if (!(json instanceof Map) || !json.has('lambda') || !json.has('expr')) return undefined
  return new Map<string, Json>([['api_version', textLambdaVersion], ...json])
}

function setValue(query: Fields, position: readonly (string | number)[]): Json {
  const parts = [...query].map(([key, json]): [string, Json] => {
    return [key, lambdaOf(json) ?? valueOfQuery(json, [...position, key])]
  })
  // An empty list of terms means the same as omitted terms.
  const kept = parts.filter(([key, json]) => key !== 'terms' || !Array.isArray(json) || json.length > 0)
  return new Map([['@set', new Map(kept)]])
}

function reference(
  query: Fields,
  key: string,
  content: Json,
  position: readonly (string | number)[],
): Json | undefined {
  const scope = query.get('scope')
  const database =
    scope === undefined ? [] : [['database', valueOfQuery(scope, [...position, 'scope'])] as const]
  const keys = query.size - database.length
  if (key === 'ref' && keys === 2) {
    const id = query.get('id')
    const collection = valueOfQuery(content, [...position, 'ref'])
    if (typeof id !== 'string' && typeof id !== 'bigint') return undefined
    return refOf([['id', String(id)], ['collection', collection], ...database])
  }
  const collectionName = Object.hasOwn(named, key) ? named[key] : undefined
  if (collectionName !== undefined && keys === 1 && typeof content === 'string') {
    return refOf([['id', content], ['collection', refOf([['id', collectionName]])], ...database])
  }
  if (!Object.hasOwn(native, key) || keys !== 1) return undefined
  const outer = content === null ? [] : [['database', valueOfQuery(content, [...position, key])] as const]
  return refOf([['id', key], ...outer])
}

function refOf(fields: readonly (readonly [string, Json])[]): Json {
  return new Map([['@ref', new Map(fields)]])
}
