// Reads the values of a file recursively. Each format has a function that converts its special forms of values: tags,
// placeholders, and types given by the user. Values without a special form are read as ordinary JSON.

import type { Json, ObjectValue, Value } from '../../values/value.ts'
import { BadRecord } from '../record.ts'

/**
 * Converts a special form. Returns undefined for ordinary JSON. `path`: names that lead to `json` in its document,
 * separated by dots. Throws {@link BadRecord}.
 */
export type SpecialFormReader = (json: Json, path: string) => Value | undefined

/** Throws {@link BadRecord} with the invalid field. */
export function readValue(json: Json, path: string, readSpecial: SpecialFormReader): Value {
  let value: Value | undefined
  try {
    value = readSpecial(json, path)
  } catch (error) {
    // The field in the error of a nested value is more precise than `path`.
    if (!(error instanceof BadRecord) || error.field !== undefined || path === '') throw error
    throw new BadRecord(error.message, path)
  }
  if (value !== undefined) return value
  if (Array.isArray(json)) return json.map(element => readValue(element, path, readSpecial))
  return json instanceof Map ? readFields(json, path, readSpecial) : json
}

/** Fields may have any names. */
export function readFields(
  json: ReadonlyMap<string, Json>,
  path: string,
  readSpecial: SpecialFormReader,
): ObjectValue {
  const fields = new Map<string, Value>()
  for (const [name, field] of json)
    fields.set(name, readValue(field, path === '' ? name : `${path}.${name}`, readSpecial))
  return fields
}

/** An object with a single member, whose name begins with @. */
export function tagOf(json: Json | undefined): readonly [tag: string, content: Json] | undefined {
  if (!(json instanceof Map) || json.size !== 1) return undefined
  const [first] = json as ReadonlyMap<string, Json>
  return first?.[0].startsWith('@') ? first : undefined
}

/** Tags whose content is a text. `what` describes the content, and `read` parses it. */
export type TextTags = Readonly<
  Record<string, readonly [what: string, read: (text: string) => Value | undefined]>
>

/** Returns undefined for other tags. Throws {@link BadRecord}. */
export function readTextTag(tags: TextTags, tag: string, content: Json): Value | undefined {
  const known = Object.hasOwn(tags, tag) ? tags[tag] : undefined
  if (known === undefined) return undefined
  const [what, read] = known
  const value = typeof content === 'string' ? read(content) : undefined
  if (value === undefined) throw new BadRecord(`${excerptOf(content)} is not a valid ${what} (${tag})`)
  return value
}

const excerptChars = 60

/** A short description for messages. */
export function excerptOf(json: Json): string {
  if (typeof json === 'object' && json !== null) return Array.isArray(json) ? 'an array' : 'an object'
  const text = typeof json === 'bigint' ? String(json) : JSON.stringify(json)
  return text.length > excerptChars ? `${text.slice(0, excerptChars)}…` : text
}

/** Describes a missing or invalid id. */
export function faultOfId(id: Json | undefined): string {
  return id === undefined ? 'without an id' : `with ${excerptOf(id)}, which is not a valid id`
}
