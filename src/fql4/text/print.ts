// Prints wire JSON, the JSON of requests and responses, as text in the notation of the drivers. If the text of a query
// is parsed again, the result is the same query. If the text of a value is parsed again, the result is a query that
// evaluates to the value.

import { type Json, kindOfNative, type NativeName, nativeNamed } from '../../values/value.ts'
import { writeJson } from '../../values/write-json.ts'
import { functionsByWire, type Parameter, setForms, type WireFunction } from './text-functions.ts'

interface PrintOptions {
  /** The target length of lines in characters; 100 by default. */
  readonly columns?: number
}

const columnsDefault = 100

type Fields = ReadonlyMap<string, Json>

/** Objects that have no other syntax are printed as `Expr({…})`. */
export function printQuery(query: Json, { columns = columnsDefault }: PrintOptions = {}): string {
  return layOut(queryPiece(query), columns)
}

export function printValue(value: Json, { columns = columnsDefault }: PrintOptions = {}): string {
  return layOut(valuePiece(value), columns)
}

const item = (piece: Piece): Item => ({ head: '', piece })

function call(name: string, ...pieces: readonly Piece[]): Group {
  return new Group(`${name}(`, pieces.map(item), ')')
}

function array(items: readonly Json[], piece: (json: Json) => Piece): Group {
  return new Group(
    '[',
    items.map(each => item(piece(each))),
    ']',
  )
}

const identifier = /^[A-Za-z_$][\w$]*$/

function object(fields: Iterable<readonly [string, Json]>, piece: (json: Json) => Piece): Group {
  const items = [...fields].map(([name, json]) => ({
    head: `${identifier.test(name) ? name : JSON.stringify(name)}: `,
    piece: piece(json),
  }))
  return new Group('{', items, '}')
}

function scalar(json: Exclude<Json, Fields | readonly Json[]>): string {
  // `JSON.stringify` escapes a lone surrogate, so the text remains valid Unicode.
  return typeof json === 'string' ? JSON.stringify(json) : writeJson(json)
}

function isArray(json: Json | undefined): json is readonly Json[] {
  return Array.isArray(json)
}

function isFields(json: Json | undefined): json is Fields {
  return json instanceof Map
}

// ------------------------------------------------------------------------------------------------- values

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
  const scope = fields.get('database')
  const database = scope === undefined || scope === null ? [] : [referencePiece(scope)]
  const [piece] = database
  if (database.length > 0 && piece === undefined) return undefined
  const scoped = piece === undefined ? [] : [piece]
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
  const holder = referencePiece(
    scoped.length > 0 ? new Map([...collection, ['database', scope as Json]]) : collection,
  )
  return holder && call('Ref', holder, scalar(id))
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
  const isSet = [...part.keys()].some(key => setForms.has(key))
  return isSet ? setPiece(part) : valuePiece(part)
}

/** The API version of lambdas that are created from text. */
const presentVersion = '4'

/**
 * The result is `Query(Lambda(…))`, with an API version other than {@link presentVersion} as second argument of
 * `Query`. With the wrapper `Lambda`, the result is `Lambda(…)` without a version.
 */
function functionPiece(body: Fields, wrapper: 'Query' | 'Lambda' = 'Query'): Piece {
  const lambda = new Map([...body].filter(([key]) => key !== 'api_version'))
  const version = body.get('api_version')
  const piece = queryPiece(lambda)
  if (wrapper === 'Lambda') return piece
  return version === undefined || version === presentVersion
    ? call('Query', piece)
    : call('Query', piece, scalar(version as string))
}

// ------------------------------------------------------------------------------------------------ queries

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

function rawPiece(fields: Fields, piece: (json: Json) => Piece): Piece {
  return call('Expr', object(fields, piece))
}

/** `piece` converts the members of the object. Returns undefined if the object has no text syntax. */
function formPiece(form: Fields, piece: (json: Json) => Piece): Piece | undefined {
  return specialPiece(form, piece) ?? callPiece(form, piece)
}

function specialPiece(form: Fields, piece: (json: Json) => Piece): Piece | undefined {
  if (form.size === 1) {
    const fields = form.get('object')
    if (isFields(fields)) return objectPiece(fields, piece)
    const variable = form.get('var')
    return variable === undefined ? undefined : call('Var', piece(variable))
  }
  if (form.size !== 2) return undefined
  if (form.has('lambda') && form.has('expr')) {
    return call('Lambda', piece(form.get('lambda') as Json), piece(form.get('expr') as Json))
  }
  if (!form.has('let') || !form.has('in')) return undefined
  const bindings = bindingsPiece(form.get('let') as Json, piece)
  return bindings && call('Let', bindings, piece(form.get('in') as Json))
}

/** Returns undefined if the only key is a tag different from `@obj`. */
function objectPiece(fields: Fields, piece: (json: Json) => Piece): Piece | undefined {
  const [key] = fields.keys()
  if (fields.size !== 1 || !key?.startsWith('@')) return object(fields, piece)
  const escaped = fields.get('@obj')
  const isEscaped = isFields(escaped)
  return isEscaped ? object(escaped, piece) : undefined
}

/** Returns an object, or an array with an object for each binding if two bindings have the same name. */
function bindingsPiece(bindings: Json, piece: (json: Json) => Piece): Piece | undefined {
  if (isFields(bindings)) return objectPiece(bindings, piece)
  if (!isArray(bindings)) return undefined
  const pairs: [string, Json][] = []
  for (const binding of bindings) {
    const [pair] = isFields(binding) && binding.size === 1 ? binding : []
    if (!pair) return undefined
    pairs.push(pair)
  }
  if (new Set(pairs.map(([name]) => name)).size === pairs.length) return object(pairs, piece)
  return new Group(
    '[',
    pairs.map(pair => item(object([pair], piece))),
    ']',
  )
}

function callPiece(form: Fields, piece: (json: Json) => Piece): Piece | undefined {
  for (const wire of form.keys()) {
    const known = functionsByWire.get(wire)
    const args = known && argumentsOf(known, form, piece)
    if (args) return call(known.name, ...args)
  }
  return undefined
}

/** Returns undefined if no text represents exactly this call. */
function argumentsOf(
  { parameters }: WireFunction,
  form: Fields,
  piece: (json: Json) => Piece,
): readonly Piece[] | undefined {
  const left = new Map(form)
  const args: (Piece | undefined)[] = []
  for (const parameter of parameters) {
    const added =
      parameter.kind === 'rest' && parameters.length === 1
        ? onlyRest(parameter, left, piece)
        : argumentsFor(parameter, left, piece)
    if (!added) return undefined
    args.push(...added)
  }
  if (left.size > 0) return undefined
  while (args.length > 0 && args.at(-1) === undefined) args.pop()
  // An omitted optional argument before other arguments is printed as null. If null is also a valid value of the
  // argument, the call is printed as `Expr({…})`.
  const pieces = args.map(
    (arg, index) => arg ?? (parameters[index]?.kind === 'optional' ? 'null' : undefined),
  )
  return pieces.every(each => each !== undefined) ? pieces : undefined
}

/** Calls of such a function have at least one argument. */
function onlyRest(
  { key }: Parameter,
  left: Map<string, Json>,
  piece: (json: Json) => Piece,
): readonly Piece[] {
  const json = left.get(key) as Json
  left.delete(key)
  return isArray(json) && json.length > 1 ? json.map(piece) : [piece(json)]
}

/**
 * Removes the keys of the parameter from `left`. An undefined element of the result is an omitted argument. Returns
 * undefined if no text represents the value of the parameter.
 */
function argumentsFor(
  { kind, key, options }: Parameter,
  left: Map<string, Json>,
  piece: (json: Json) => Piece,
): readonly (Piece | undefined)[] | undefined {
  const json = left.get(key)
  const isThere = left.delete(key)
  switch (kind) {
    case 'always null':
      return json === null ? [] : undefined
    case 'null by default':
      if (!isThere) return undefined
      return [json === null ? undefined : piece(json as Json)]
    case 'rest':
      // A missing key and an empty array both mean no arguments.
      if (!isThere) return []
      if (isArray(json) && json.length === 0) return []
      // By convention, several terms are written as an array.
      return isArray(json) && json.length > 1 && key !== 'terms' ? json.map(piece) : [piece(json as Json)]
    case 'rest as array':
      return isArray(json) && json.length > 0 ? json.map(piece) : undefined
    case 'options': {
      const given = [...left].filter(([name]) => options.includes(name))
      for (const [name] of given) left.delete(name)
      return [given.length > 0 ? object(given, piece) : undefined]
    }
    case 'optional':
      if (isThere && json === null) return undefined
      return [isThere ? piece(json as Json) : undefined]
    case 'optional or null':
      return [isThere ? piece(json as Json) : undefined]
    default:
      return isThere ? [piece(json as Json)] : undefined
  }
}

// The layout of printed expressions. An expression that does not fit on the line is printed with one part per line.

/** Text on a single line, or a group of parts that may be on separate lines. */
type Piece = string | Group

/** Parts between brackets. */
class Group {
  readonly open: string
  readonly close: string
  readonly items: readonly Item[]
  /** True if there are spaces inside the brackets, as in objects. */
  readonly isSpaced: boolean
  /** Length on one line, in characters. */
  readonly width: number

  constructor(open: string, items: readonly Item[], close: string) {
    this.open = open
    this.close = close
    this.items = items
    this.isSpaced = open.endsWith('{') && items.length > 0
    const separators = 2 * Math.max(0, items.length - 1) + (this.isSpaced ? 2 : 0)
    this.width = items.reduce((sum, item) => sum + itemWidth(item), open.length + close.length + separators)
  }
}

/** A part, preceded by the text `head`, such as the name of a field. */
interface Item {
  readonly head: string
  readonly piece: Piece
}

const indentChars = 2

/** Functions whose last argument begins on the line of the call, even if the argument needs several lines. */
const hugging: ReadonlySet<string> = new Set(['Lambda(', 'Query(', 'Map(', 'Foreach(', 'Filter(', 'Let('])

function widthOf(piece: Piece): number {
  return typeof piece === 'string' ? piece.length : piece.width
}

function itemWidth({ head, piece }: Item): number {
  return head.length + widthOf(piece)
}

/** `columns`: the maximum length of lines in characters. Parts that cannot be divided may be longer. */
function layOut(piece: Piece, columns: number): string {
  return put(piece, 0, 0, columns)
}

/** Lays out a piece on a line that already has `used` characters. */
function put(piece: Piece, indent: number, used: number, columns: number): string {
  if (typeof piece === 'string') return piece
  if (used + piece.width <= columns || piece.items.length === 0) return flat(piece)
  const { open, close, items } = piece
  const last = items.at(-1) as Item
  if (canHug(piece, last, used, columns)) {
    const before = items.slice(0, -1).map(({ head, piece }) => `${head}${flat(piece)}, `)
    const start = open + before.join('') + last.head
    return start + put(last.piece, indent, used + start.length, columns) + close
  }
  const inner = indent + indentChars
  const margin = ' '.repeat(inner)
  const lines = items.map(({ head, piece }) => {
    return margin + head + put(piece, inner, inner + head.length + 1, columns)
  })
  return `${open}\n${lines.join(',\n')}\n${' '.repeat(indent)}${close}`
}

/** Beginning the last part on the line of the call saves a level of indentation. */
function canHug({ open, items, isSpaced }: Group, { piece }: Item, used: number, columns: number): boolean {
  if (typeof piece === 'string' || piece.items.length === 0 || isSpaced || open === '[') return false
  const isContainer = piece.open === '{' || piece.open === '['
  if (items.length > 1 && !isContainer && !hugging.has(open)) return false
  const before = items.slice(0, -1)
  const width = before.reduce((sum, item) => sum + itemWidth(item) + 2, used + open.length)
  return width + piece.open.length <= columns
}

function flat(piece: Piece): string {
  if (typeof piece === 'string') return piece
  const items = piece.items.map(({ head, piece }) => head + flat(piece)).join(', ')
  const blank = piece.isSpaced ? ' ' : ''
  return piece.open + blank + items + blank + piece.close
}
