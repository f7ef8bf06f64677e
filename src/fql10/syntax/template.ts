// Composes a query template, which consists of texts and values, into one text with `<value>` for each value.

import type { RepeatedNames } from '../../values/json.ts'
import type { Json } from '../../values/value.ts'
import { quoted } from '../text/quoted.ts'

/** Replaces each template value in the composed query. */
export const placeholderText = '<value>'

/** The variable that contains the template value number `index`, counted from 0. */
export function placeholderName(index: number): string {
  return `<${index}>`
}

/** The message is for the client. */
export class TemplateError {
  readonly message: string
  constructor(message: string) {
    this.message = message
  }
}

/** JSON in the tagged format, or arrays and plain objects of template values. */
export type TemplateValue =
  | { readonly kind: 'value'; readonly json: Json }
  | { readonly kind: 'array'; readonly elements: readonly TemplateValue[] }
  | { readonly kind: 'object'; readonly fields: ReadonlyMap<string, TemplateValue> }

/** The text of a query, with the offsets of its values. */
export interface ComposedQuery {
  readonly text: string
  readonly placeholders: readonly number[]
  readonly values: readonly TemplateValue[]
}

/** `repeated` contains the objects with duplicate keys. Throws a TemplateError. */
export function composeQuery(json: Json, repeated: RepeatedNames = new Map()): ComposedQuery {
  if (typeof json === 'string') return { text: json, placeholders: [], values: [] }
  const composer = new Composer(repeated)
  composer.part(json, false)
  return composer
}

class Composer implements ComposedQuery {
  text = ''
  readonly placeholders: number[] = []
  readonly values: TemplateValue[] = []
  readonly #repeated: RepeatedNames
  /** Results of `#nestedValueOf`, so that nested arrays and objects are traversed only once. */
  readonly #known = new Map<Json, TemplateValue | undefined>()

  constructor(repeated: RepeatedNames) {
    this.#repeated = repeated
  }

  /** Query texts in arrays and objects get parentheses. */
  part(json: Json, isNested: boolean): void {
    if (typeof json === 'string') {
      if (json.includes('\0')) throw new TemplateError('FQL strings cannot contain NUL characters')
      this.text += isNested ? `(${json})` : json
      return
    }
    const [key, content] = member(json)
    if (key === 'fql') {
      if (!Array.isArray(content)) throw new TemplateError(unexpected(content, 'Array Start'))
      if (isNested) this.text += '('
      for (const part of content) this.part(part, false)
      if (isNested) this.text += ')'
      return
    }
    const value = this.#valueOf(key, content)
    if (value !== undefined) {
      this.placeholders.push(this.text.length)
      this.values.push(value)
      this.text += placeholderText
    } else if (key === 'array') this.#addParts('[', ']', (content as readonly Json[]).entries(), () => '')
    else {
      const fields = (content as ReadonlyMap<string, Json>).entries()
      this.#addParts('{ ', ' }', fields, name => `${quoted(String(name))}: `)
    }
  }

  /** Returns undefined if the part contains query text. */
  #valueOf(key: string, content: Json): TemplateValue | undefined {
    if (key === 'value') return { kind: 'value', json: content }
    if (!this.#known.has(content)) this.#known.set(content, this.#nestedValueOf(key, content))
    return this.#known.get(content)
  }

  #nestedValueOf(key: string, content: Json): TemplateValue | undefined {
    if (key === 'array') {
      if (!Array.isArray(content)) throw new TemplateError(unexpected(content, 'Array Start'))
      const elements = content.map(part => this.#ofPart(part))
      return elements.includes(undefined)
        ? undefined
        : { kind: 'array', elements: elements as TemplateValue[] }
    }
    if (!(content instanceof Map)) throw new TemplateError(unexpected(content, 'Object Start'))
    const duplicate = this.#repeated.get(content)
    if (duplicate !== undefined) throw new TemplateError(`Duplicate object field \`${duplicate}\``)
    const fields = new Map<string, TemplateValue>()
    for (const [name, part] of content) {
      const value = this.#ofPart(part)
      if (value !== undefined) fields.set(name, value)
    }
    return fields.size === content.size ? { kind: 'object', fields } : undefined
  }

  #ofPart(json: Json): TemplateValue | undefined {
    if (typeof json === 'string') return undefined
    const [key, content] = member(json)
    return key === 'fql' ? undefined : this.#valueOf(key, content)
  }

  #addParts(
    open: string,
    close: string,
    parts: Iterable<readonly [string | number, Json]>,
    label: (name: string | number) => string,
  ): void {
    this.text += open
    let separator = ''
    for (const [name, part] of parts) {
      this.text += separator + label(name)
      this.part(part, true)
      separator = ', '
    }
    this.text += close
  }
}

const keys: readonly string[] = ['fql', 'value', 'array', 'object']

/** Throws a TemplateError for JSON that is not a template part. */
function member(json: Json): readonly [key: string, content: Json] {
  if (!(json instanceof Map)) throw new TemplateError(unexpected(json, 'query template'))
  const [first, ...others] = json
  if (first === undefined || others.length > 0 || !keys.includes(first[0])) {
    throw new TemplateError(
      "Unexpected JSON Object Field Name. Expected an object with a single key 'fql', 'value', 'array', or 'object'.",
    )
  }
  return first
}

/** The error message for an unexpected JSON value, in the words of the protocol. */
export function unexpected(json: Json, wanted: string): string {
  return `Unexpected JSON ${jsonKind(json)}. Expected ${wanted}.`
}

/** The kind of a JSON value, in the words of the protocol. */
export function jsonKind(json: Json): string {
  if (json === null) return 'Null'
  if (Array.isArray(json)) return 'Array Start'
  switch (typeof json) {
    case 'bigint':
      return 'Integer'
    case 'number':
      return 'Double'
    case 'boolean':
      return 'Boolean'
    case 'string':
      return 'String'
  }
  return 'Object Start'
}
