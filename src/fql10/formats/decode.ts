// Decodes JSON arguments and template values in the formats `simple` and `tagged`.

import { step } from '../../base/effort.ts'
import { decodeBase64 } from '../../values/base64.ts'
import { parseDate } from '../../values/date.ts'
import { parseTime } from '../../values/time.ts'
import { int64Max, int64Min, type Json } from '../../values/value.ts'
import { type Diagnostic, invalidQuery } from '../failure/query-failure.ts'
import { integerOfText, javaDouble } from '../numbers.ts'
import type { Source } from '../syntax/source.ts'
import { type ComposedQuery, placeholderText, type TemplateValue } from '../syntax/template.ts'
import { asLong, fitsInt, type Module, type Value } from '../value.ts'

/** Thrown for an invalid value in a request. Clients see the message. */
export class DecodingError {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/** Resolves the names in tags of the format `tagged`. */
export interface TagNames {
  /** The module or the collection with the given name. */
  readonly module: (name: string) => Module | undefined
  /** `content` is an object, or a text in an older format. Throws a DecodingError. */
  document(tag: '@doc' | '@ref', content: string | ReadonlyMap<string, Value>): Value
}

/** Throws a DecodingError for an integer of more than 64 bits. */
export function decodeSimple(json: Json): Value {
  step()
  if (typeof json === 'bigint') {
    if (json < int64Min || json > int64Max) throw new DecodingError('invalid long')
    return json
  }
  if (Array.isArray(json)) return json.map(decodeSimple)
  if (json instanceof Map) return new Map([...json].map(([key, value]) => [key, decodeSimple(value)]))
  return json as Value
}

/** Throws a DecodingError for an invalid value. */
export function decodeTagged(json: Json, names: TagNames): Value {
  step()
  if (typeof json === 'bigint' || typeof json === 'number') throw new DecodingError('numbers must be tagged')
  if (Array.isArray(json)) return json.map(element => decodeTagged(element, names))
  if (!(json instanceof Map)) return json as Value
  const tag = [...json.keys()].find(key => key.startsWith('@'))
  if (tag === undefined) return decodeMembers(json, names)
  if (json.size > 1) throw new DecodingError('too many keys in tagged value')
  return decodeTag(tag, json.get(tag) as Json, names)
}

function decodeMembers(members: ReadonlyMap<string, Json>, names: TagNames): ReadonlyMap<string, Value> {
  return new Map([...members].map(([key, value]) => [key, decodeTagged(value, names)]))
}

function decodeTag(tag: string, content: Json, names: TagNames): Value {
  switch (tag) {
    case '@object':
      if (!(content instanceof Map)) throw new DecodingError('@object requires an object value')
      return decodeMembers(content, names)
    case '@doc':
    case '@ref':
      if (typeof content === 'string') return names.document(tag, content)
      if (!(content instanceof Map)) throw new DecodingError(`${tag} requires an object value`)
      return names.document(tag, decodeMembers(content, names))
  }
  const isModule = tag === '@mod'
  const decode = isModule ? names.module : textDecoders[tag]
  if (decode === undefined) throw new DecodingError(`invalid tag '${tag}'`)
  if (typeof content !== 'string') throw new DecodingError(`${tag} requires a string value`)
  const value = decode(content)
  if (value !== undefined) return value
  throw new DecodingError(isModule ? `no such module '${content}'` : `invalid ${nouns[tag] ?? tag.slice(1)}`)
}

/** Nouns for tags in error messages. For all other tags, the text after `@` is the noun. */
const nouns: Readonly<Record<string, string>> = { '@int': 'integer' }

/** The decoders of tags whose content is a string, except `@mod`, which needs the names of the database. */
const textDecoders: Readonly<Record<string, (text: string) => Value | undefined>> = {
  '@int': text => {
    const integer = integerOfText(text)
    return integer === undefined || !fitsInt(integer) ? undefined : integer
  },
  '@long': text => {
    const integer = integerOfText(text)
    return integer === undefined ? undefined : asLong(integer)
  },
  '@double': javaDouble,
  '@time': parseTime,
  '@date': parseDate,
  // `decodeBase64` also accepts URL-safe base64, but the format does not.
  '@bytes': text => (/[-_]/.test(text) ? undefined : decodeBase64(text)),
}

/**
 * Decodes the values of a template. Throws a QueryFailure for the first invalid value; the error underlines the
 * placeholder of this value.
 */
export function bindTemplate(
  { values, placeholders }: ComposedQuery,
  source: Source,
  names: TagNames,
): Value[] {
  return values.map((value, index) => {
    try {
      return decodeTemplateValue(value, names)
    } catch (error) {
      if (!(error instanceof DecodingError)) throw error
      const start = placeholders[index] as number
      const span = { source, start, end: start + placeholderText.length }
      const diagnostic: Diagnostic = { name: 'error', message: error.message, span }
      throw invalidQuery([diagnostic])
    }
  })
}

function decodeTemplateValue(value: TemplateValue, names: TagNames): Value {
  switch (value.kind) {
    case 'value':
      return decodeTagged(value.json, names)
    case 'array':
      return value.elements.map(element => decodeTemplateValue(element, names))
    case 'object':
      return new Map([...value.fields].map(([name, field]) => [name, decodeTemplateValue(field, names)]))
  }
}
