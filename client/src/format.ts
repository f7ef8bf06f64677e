// The tagged format, in which queries send values and responses return them. Integers, times and other values without a
// JSON type are objects with a single key that begins with `@`.

import { Query, type QueryArgument } from './query.ts'
import {
  Document,
  DocumentRef,
  Double,
  EventSourceToken,
  LocalDate,
  Module,
  NamedDocument,
  NamedRef,
  NullDocument,
  Page,
  Time,
  Uuid,
} from './values.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

/** Maximum nesting of an argument, to detect circular arguments. The service has a lower limit. */
const depthMax = 500

const intMin = -(2 ** 31)
const intMax = 2 ** 31 - 1
const longMin = -(2n ** 63n)
const longMax = 2n ** 63n - 1n

/** Encodes a query as the member `query` of a request. Throws a `TypeError` for a value that cannot be sent. */
export function encodeQuery(query: Query, depth = 0): Json {
  const parts: Json[] = []
  for (const [index, text] of query.texts.entries()) {
    if (text !== '') parts.push(text)
    if (index < query.values.length) parts.push(encodePart(query.values[index], depth + 1))
  }
  return { fql: parts }
}

/** Arrays and objects without a query in them are encoded as a single value. */
function encodePart(value: QueryArgument | undefined, depth: number): Json {
  if (value instanceof Query) return encodeQuery(value, depth)
  if (!hasQuery(value, depth)) return { value: encodeValue(value, depth) }
  if (Array.isArray(value)) return { array: value.map(each => encodePart(each, depth + 1)) }
  return { object: mapFields(value as object, each => encodePart(each as QueryArgument, depth + 1)) }
}

function hasQuery(value: unknown, depth: number): boolean {
  checkDepth(depth)
  if (value instanceof Query) return true
  if (Array.isArray(value)) return value.some(each => hasQuery(each, depth + 1))
  return isPlain(value) && Object.values(value).some(each => hasQuery(each, depth + 1))
}

/** Throws a `TypeError` for a value that cannot be sent. */
export function encodeValue(value: unknown, depth = 0): Json {
  checkDepth(depth)
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value
    case 'number':
      return encodeNumber(value)
    case 'bigint':
      if (value < longMin || value > longMax) throw new TypeError(`${value} is beyond the 64 bits of a Long`)
      return { '@long': String(value) }
    case 'object':
      return value === null ? null : encodeObject(value, depth)
    default:
      throw new TypeError(
        value === undefined
          ? 'undefined cannot be sent: write null, or leave the field out'
          : `a ${typeof value} cannot be sent`,
      )
  }
}

function encodeNumber(value: number): Json {
  if (!Number.isSafeInteger(value) || Object.is(value, -0)) return encodeDouble(value)
  return value >= intMin && value <= intMax ? { '@int': String(value) } : { '@long': String(value) }
}

function encodeDouble(value: number): Json {
  return { '@double': Object.is(value, -0) ? '-0.0' : String(value) }
}

function encodeObject(value: object, depth: number): Json {
  if (Array.isArray(value)) return value.map(each => encodeValue(each, depth + 1))
  if (value instanceof Time) return { '@time': value.text }
  if (value instanceof LocalDate) return { '@date': value.text }
  if (value instanceof Double) return encodeDouble(value.value)
  if (value instanceof Module) return { '@mod': value.name }
  if (value instanceof NullDocument) return encodeRef(value.ref)
  if (isReference(value)) return encodeRef(value)
  if (ArrayBuffer.isView(value))
    return { '@bytes': base64Of(new Uint8Array(value.buffer, value.byteOffset, value.byteLength)) }
  const kind = Object.prototype.toString.call(value).slice('[object '.length, -1)
  // `instanceof` fails for objects of another realm, such as an iframe or a test runner.
  if (kind === 'Date') return { '@time': (value as Date).toISOString() }
  if (kind === 'ArrayBuffer') return { '@bytes': base64Of(new Uint8Array(value as ArrayBuffer)) }
  if (!isPlain(value)) throw new TypeError(`an object of the class ${nameOfClass(value)} cannot be sent`)
  const fields = mapFields(value, each => encodeValue(each, depth + 1))
  return Object.keys(fields).some(name => name.startsWith('@')) ? { '@object': fields } : fields
}

function nameOfClass(value: object): string {
  return value.constructor.name
}

type Reference = Document | DocumentRef | NamedDocument | NamedRef

function isReference(value: object): value is Reference {
  return [Document, DocumentRef, NamedDocument, NamedRef].some(each => value instanceof each)
}

function encodeRef(ref: Reference): Json {
  const coll = { '@mod': ref.coll.name }
  return { '@ref': 'id' in ref ? { coll, id: ref.id } : { coll, name: ref.name } }
}

/** True for an object without a class, also of another realm. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || value instanceof Query) return false
  const prototype = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function checkDepth(depth: number): void {
  if (depth > depthMax) throw new TypeError('a value is nested too deeply, or contains itself')
}

/** Leaves out undefined fields. */
function mapFields<To>(from: object, change: (value: unknown) => To): { [name: string]: To } {
  const fields: { [name: string]: To } = {}
  for (const [name, value] of Object.entries(from))
    if (value !== undefined) setField(fields, name, change(value))
  return fields
}

/** An assignment would not create a field with the name `__proto__`. */
function setField(target: object, name: string, value: unknown): void {
  Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true })
}

/** Throws a `TypeError` for an unknown tag. */
export function decodeValue(json: Json): unknown {
  if (typeof json !== 'object' || json === null) return json
  if (Array.isArray(json)) return json.map(decodeValue)
  const [name, ...more] = Object.keys(json)
  if (name?.startsWith('@') && more.length === 0) return decodeTag(name, (json as Fields)[name] as Json)
  return decodeFields(json as Fields, {})
}

type Fields = { readonly [key: string]: Json }

function decodeTag(tag: string, content: Json): unknown {
  switch (tag) {
    case '@int':
    case '@double':
      return Number(content)
    case '@long': {
      const number = Number(content)
      return Number.isSafeInteger(number) ? number : BigInt(content as string)
    }
    case '@time':
      return new Time(content as string)
    case '@date':
      return new LocalDate(content as string)
    case '@uuid':
      return new Uuid(content as string)
    case '@bytes':
      return bytesOf(content as string)
    case '@mod':
      return new Module(content as string)
    case '@stream':
      return new EventSourceToken(content as string)
    case '@object':
      return decodeFields(content as Fields, {})
    case '@doc':
      return decodeDocument(content as Fields)
    case '@ref':
      return decodeRef(content as Fields)
    case '@set':
      return decodeSet(content as string | Fields)
    default:
      throw new TypeError(
        `the response contains the tag ${tag}, which this version of the client does not support`,
      )
  }
}

function decodeFields<Target extends object>(fields: Fields, target: Target): Target {
  for (const [name, value] of Object.entries(fields)) setField(target, name, decodeValue(value))
  return target
}

function decodeDocument(content: Fields): Document | NamedDocument {
  const fields = (content['@object'] ?? content) as Fields
  return decodeFields(fields, 'id' in fields ? new Document() : new NamedDocument())
}

function decodeRef({ coll, id, name, exists, cause }: Fields): DocumentRef | NamedRef | NullDocument {
  const { name: collection } = decodeValue(coll as Json) as Module
  const ref =
    id === undefined ? new NamedRef(collection, name as string) : new DocumentRef(collection, id as string)
  return exists === false ? new NullDocument(ref, cause as string) : ref
}

/** A deeply nested set arrives as the cursor of its first page, and becomes a page without data. */
function decodeSet(content: string | Fields): Page {
  if (typeof content === 'string') return new Page([], content)
  return new Page(decodeValue(content.data as Json) as unknown[], content.after as string | undefined)
}

/** Bytes per call of `fromCharCode`, because the number of arguments is limited. */
const chunkBytes = 8192

function base64Of(bytes: Uint8Array): string {
  let text = ''
  for (let start = 0; start < bytes.length; start += chunkBytes)
    text += String.fromCharCode(...bytes.subarray(start, start + chunkBytes))
  return btoa(text)
}

function bytesOf(base64: string): Uint8Array {
  return Uint8Array.from(atob(base64), character => character.charCodeAt(0))
}
