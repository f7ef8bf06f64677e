// The one way through a value of a file: arrays and objects are followed to their parts, and what a notation has a form
// of its own for (tags, hints, types that the user gave) is asked of it first, at every part.

import type { Json, ObjectValue, Value } from '../../values/value.ts'
import { BadRecord } from '../record.ts'

/**
 * What a part of a value stands for in a notation; undefined for what means what it is in JSON. `path` are the names
 * that lead to it, with points in between. Throws {@link BadRecord}.
 */
export type Notation = (json: Json, path: string) => Value | undefined

/** A value in a notation. Throws {@link BadRecord}, with the field that cannot be read. */
export function readValue(json: Json, path: string, notation: Notation): Value {
  let value: Value | undefined
  try {
    value = notation(json, path)
  } catch (error) {
    // Said where it is known, which is innermost.
    if (!(error instanceof BadRecord) || error.field !== undefined || path === '') throw error
    throw new BadRecord(error.message, path)
  }
  if (value !== undefined) return value
  if (Array.isArray(json)) return json.map(element => readValue(element, path, notation))
  return json instanceof Map ? readFields(json, path, notation) : (json as Value)
}

/** The fields of an object, whatever their names. */
export function readFields(json: ReadonlyMap<string, Json>, path: string, notation: Notation): ObjectValue {
  const fields = new Map<string, Value>()
  for (const [name, field] of json)
    fields.set(name, readValue(field, path === '' ? name : `${path}.${name}`, notation))
  return fields
}

/** The tag and content of an object that is one: its only name begins with an @. */
export function tagOf(json: Json | undefined): readonly [tag: string, content: Json] | undefined {
  if (!(json instanceof Map) || json.size !== 1) return undefined
  const [first] = json as ReadonlyMap<string, Json>
  return first?.[0].startsWith('@') ? first : undefined
}

/** Tags whose content is a text, with what they hold and how it is read. */
export type TextTags = Readonly<
  Record<string, readonly [what: string, read: (text: string) => Value | undefined]>
>

/** What a tag of texts stands for; undefined for another tag. Throws {@link BadRecord}. */
export function readTextTag(tags: TextTags, tag: string, content: Json): Value | undefined {
  const known = Object.hasOwn(tags, tag) ? tags[tag] : undefined
  if (known === undefined) return undefined
  const [what, read] = known
  const value = typeof content === 'string' ? read(content) : undefined
  if (value === undefined) throw new BadRecord(`${excerptOf(content)} is no ${what} (${tag})`)
  return value
}

const excerptChars = 60

/** A value as JSON for a message: not all of it when it is long. */
export function excerptOf(json: Json): string {
  if (typeof json === 'object' && json !== null) return Array.isArray(json) ? 'an array' : 'an object'
  const text = typeof json === 'bigint' ? String(json) : JSON.stringify(json)
  return text.length > excerptChars ? `${text.slice(0, excerptChars)}…` : text
}

/** What is wrong with an id. */
export function faultOfId(id: Json | undefined): string {
  return id === undefined ? 'without an id' : `with ${excerptOf(id)}, which is no id`
}
