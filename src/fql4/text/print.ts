// Prints wire JSON, the JSON of requests and responses, as text in the notation of the drivers. If the text of a query
// is parsed again, the result is the same query. If the text of a value is parsed again, the result is a query that
// evaluates to the value.

import { type Json, kindOfNative, type NativeName, nativeNamed } from '../../values/value.ts'
import { layOut, type Piece } from './layout.ts'
import { array, call, type Fields, isArray, isFields, object, scalar } from './pieces.ts'
import { formPiece, rawPiece } from './print-call.ts'
import { functionsByWire, setKeys, type WireFunction } from './text-functions.ts'

interface PrintOptions {
  /** The target length of lines in characters; 100 by default. */
  readonly columns?: number
}

const columnsDefault = 100

/** Objects that have no other syntax are printed as `Expr({…})`. */
export function printQuery(query: Json, { columns = columnsDefault }: PrintOptions = {}): string {
  return layOut(queryPiece(query), columns)
}

export function printValue(value: Json, { columns = columnsDefault }: PrintOptions = {}): string {
  return layOut(valuePiece(value), columns)
}

/** Values of types that JSON lacks have a tag such as `@ref`. */
function valuePiece(value: Json): Piece {
  if (isArray(value)) return array(value, valuePiece)
  if (!isFields(value)) return scalar(value)
  if (value.size === 1) {
    const [key, content] = value.entries().next().value as [string, Json]
    if (key === '@obj' && isFields(content)) return object(content, valuePiece)
    const tagged = taggedPiece(key, content)
    if (tagged) return tagged
  }
  return object(value, valuePiece)
}

const textTags: Readonly<Record<string, string>> = {
  '@ts': 'Time',
  '@date': 'Date',
  '@bytes': 'Bytes',
  '@uuid': 'UUID',
}

/** Returns undefined if the tag is unknown or the content is invalid. */
function taggedPiece(tag: string, content: Json): Piece | undefined {
  const ofText = Object.hasOwn(textTags, tag) ? textTags[tag] : undefined
  if (ofText !== undefined) return typeof content === 'string' ? call(ofText, scalar(content)) : undefined
  switch (tag) {
    case '@ref':
      return referencePiece(content)
    case '@set':
      return isFields(content) ? setPiece(content) : undefined
    case '@query':
      return isFields(content) ? functionPiece(content) : undefined
  }
  return undefined
}

function nativeOf(name: Json | undefined): NativeName | undefined {
  return typeof name === 'string' ? nativeNamed(name) : undefined
}

/** Converts the wire key of a function, such as `get`, to its name in the text of a query, such as `Get`. */
function nameOfWire(wire: string): string {
  return (functionsByWire.get(wire) as WireFunction).name
}

/** The tag `@ref` around the fields is optional. */
function referenceFields(json: Json | undefined): Fields | undefined {
  if (!isFields(json)) return undefined
  return json.size === 1 && json.has('@ref') ? referenceFields(json.get('@ref')) : json
}

function referencePiece(content: Json): Piece | undefined {
  if (typeof content === 'string') return call('Ref', scalar(content))
  const fields = referenceFields(content)
  const id = fields?.get('id')
  if (!fields || (typeof id !== 'string' && typeof id !== 'bigint')) return undefined
  const scope = fields.get('database') ?? undefined
  const database = scope === undefined ? undefined : referencePiece(scope)
  if (scope !== undefined && database === undefined) return undefined
  const scoped = database === undefined ? [] : [database]
  const collection = referenceFields(fields.get('collection') ?? fields.get('class'))
  if (!collection) {
    const native = nativeOf(id)
    return native && call(nameOfWire(native), ...scoped)
  }
  const isNative = !collection.has('collection') && !collection.has('class')
  const native = isNative ? nativeOf(collection.get('id')) : undefined
  const kind = native && kindOfNative.get(native)
  if (kind !== undefined) return call(nameOfWire(kind), scalar(id), ...scoped)
  // A child database is printed as an argument of the collection: `Ref(Collection("a", Database("b")), "1")`.
  const collectionPiece = referencePiece(
    scope === undefined ? collection : new Map([...collection, ['database', scope]]),
  )
  return collectionPiece && call('Ref', collectionPiece, scalar(id))
}

/** The arguments of a set are values and lambdas. */
function setPiece(body: Fields): Piece {
  return formPiece(body, part => setPartPiece(part)) ?? rawPiece(body, setPartPiece)
}

function setPartPiece(part: Json): Piece {
  if (isArray(part)) return array(part, setPartPiece)
  if (!isFields(part)) return scalar(part)
  if (part.has('lambda') && part.has('expr')) return functionPiece(part, 'Lambda')
  const stored = part.size === 1 ? part.get('@obj') : undefined
  if (isFields(stored) && stored.size === 1 && stored.has('@set')) return setPartPiece(stored)
  const isSet = [...part.keys()].some(key => setKeys.has(key))
  return isSet ? setPiece(part) : valuePiece(part)
}

/** The API version of lambdas that are created from text. */
export const textLambdaVersion = '4'

/**
 * The result is `Query(Lambda(…))`, with an API version other than {@link textLambdaVersion} as second argument of
 * `Query`. With the wrapper `Lambda`, the result is `Lambda(…)` without a version.
 */
function functionPiece(body: Fields, wrapper: 'Query' | 'Lambda' = 'Query'): Piece {
  const lambda = new Map([...body].filter(([key]) => key !== 'api_version'))
  const version = body.get('api_version')
  const piece = queryPiece(lambda)
  if (wrapper === 'Lambda') return piece
  return version === undefined || version === textLambdaVersion
    ? call('Query', piece)
    : call('Query', piece, scalar(version as string))
}

function queryPiece(query: Json): Piece {
  if (isArray(query)) return array(query, queryPiece)
  if (!isFields(query)) return scalar(query)
  if (query.size === 1) {
    const [key, content] = query.entries().next().value as [string, Json]
    const tagged = taggedPiece(key, content)
    if (tagged) return tagged
  }
  return formPiece(query, queryPiece) ?? rawPiece(query, queryPiece)
}
