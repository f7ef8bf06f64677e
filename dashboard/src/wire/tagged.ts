// Converts values of version 10 from the format `tagged` to the values that pages show, and to text.

import { inBrackets, keyText, quoted } from '../../../src/fql10/text/quoted.ts'
import { isMap, type Json, textAt } from './json.ts'
import { collectionValue, type Native, referenceValue, tagOf } from './refs.ts'

/** Native collections by their names in version 10. */
const natives: Readonly<Record<string, Native>> = {
  AccessProvider: 'access_providers',
  Collection: 'collections',
  Credential: 'credentials',
  Database: 'databases',
  Function: 'functions',
  Key: 'keys',
  Role: 'roles',
  Token: 'tokens',
}

type Fields = ReadonlyMap<string, Json>

/** Returns undefined for other values. */
function taggedOf(value: Json): readonly [tag: string, inner: Json] | undefined {
  const tag = tagOf(value)
  return tag === undefined || !isMap(value) ? undefined : [tag, value.get(tag) ?? null]
}

function fieldsOf(inner: Json): Fields {
  const wrapped = isMap(inner) && inner.size === 1 ? inner.get('@object') : undefined
  if (isMap(wrapped)) return wrapped
  return isMap(inner) ? inner : new Map()
}

/** Unwraps numbers. References become references of version 4, which pages show as links. */
export function shownValue(value: Json): Json {
  if (Array.isArray(value)) return value.map(shownValue)
  if (!isMap(value)) return value
  const tagged = taggedOf(value)
  if (tagged === undefined) return shownFields(value)
  const [tag, inner] = tagged
  switch (tag) {
    case '@int':
    case '@long':
      return BigInt(String(inner))
    case '@double':
      return Number(inner)
    case '@doc': {
      const fields = fieldsOf(inner)
      const reference = referenceOf(fields)
      const shown = new Map(shownFields(fields))
      if (reference) shown.set(shown.has('id') ? 'id' : 'name', reference)
      return shown
    }
    case '@ref': {
      const fields = fieldsOf(inner)
      const isMissing = fields.get('exists') === false
      return (isMissing ? undefined : referenceOf(fields)) ?? new Map([['@missing', referenceText(fields)]])
    }
    case '@set':
      return isMap(inner) ? shownFields(inner) : value
    case '@object':
      return shownFields(fieldsOf(value))
  }
  return value
}

function shownFields(fields: Fields): Fields {
  return new Map([...fields].map(([name, value]) => [name, shownValue(value)]))
}

/** Returns a reference of version 4. */
function referenceOf(fields: Fields): Json | undefined {
  const id = fields.get('id') ?? fields.get('name')
  const collection = textAt(fields, 'coll', '@mod')
  if (id === undefined || collection === undefined) return undefined
  const native = natives[collection]
  return referenceValue(id, native === undefined ? collectionValue(collection) : referenceValue(native))
}

/** Source text, with the reason if the document is missing. */
function referenceText(fields: Fields): string {
  const collection = textAt(fields, 'coll', '@mod') ?? ''
  const name = textAt(fields, 'name')
  const written =
    name === undefined
      ? `${collection}(${quoted(textAt(fields, 'id') ?? '')})`
      : `${collection}.byName(${quoted(name)})`
  return fields.get('exists') === false ? `${written} /* ${textAt(fields, 'cause')} */` : written
}

/** Returns formatted source text. */
export function printTagged(value: Json, level = 0): string {
  if (typeof value === 'string') return quoted(value)
  if (Array.isArray(value)) {
    const lines = value.map(element => printTagged(element, level + 1))
    return inBrackets('[', lines, ']', level)
  }
  if (!isMap(value)) return String(value)
  const [tag, inner] = taggedOf(value) ?? ['@object', value]
  switch (tag) {
    case '@int':
    case '@long':
      return String(inner)
    case '@double':
      return String(inner).replace(/NaN|Infinity/, 'Math.$&')
    case '@time':
    case '@date':
    case '@bytes':
      return `${tag.charAt(1).toUpperCase()}${tag.slice(2)}(${quoted(String(inner))})`
    case '@uuid':
      return `UUID(${quoted(String(inner))})`
    case '@mod':
      return String(inner)
    case '@ref':
      return referenceText(fieldsOf(inner))
  }
  if (!isMap(inner)) return quoted(String(inner))
  const lines = [...fieldsOf(inner)].map(([key, each]) => `${keyText(key)}: ${printTagged(each, level + 1)}`)
  return inBrackets('{', lines, '}', level)
}
