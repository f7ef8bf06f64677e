// Parses signatures: the declared types of fields in collections of version 10. The result says whether a field is
// required, and has an initial value and the nested fields. Only forms and completion use it, so an invalid signature
// is treated as `Any`.

import type { Json } from './json.ts'
import { collectionValue, referenceValue } from './refs.ts'

export interface Signature {
  /** Source text. */
  readonly text: string
  /** True if the value may be null or absent. */
  readonly isOptional: boolean
  /** The initial value of a field with this type; null if there is none. */
  readonly start: Json
  /** Fields of an object type. */
  readonly fields: ReadonlyMap<string, Signature>
  /** The type refers to documents of this collection. */
  readonly collection: string | undefined
  /** Element type of an array. */
  readonly element: Signature | undefined
}

const noFields: ReadonlyMap<string, Signature> = new Map()

const typed = (start: Json, more: Partial<Signature> = {}): Signature => ({
  text: '',
  isOptional: false,
  start,
  fields: noFields,
  collection: undefined,
  element: undefined,
  ...more,
})

export const anySignature: Signature = typed(null, { text: 'Any', isOptional: true })

const tagged = (tag: string, text: string): Json => new Map([[tag, text]])

/** Numbers start at zero, times at the present. */
const named: Readonly<Record<string, () => Signature>> = {
  Any: () => anySignature,
  Null: () => typed(null, { isOptional: true }),
  String: () => typed(''),
  ID: () => typed(''),
  Boolean: () => typed(false),
  Int: () => typed(0n),
  Long: () => typed(0n),
  Number: () => typed(0n),
  Double: () => typed(0),
  Time: () => typed(tagged('@ts', `${new Date().toISOString().slice(0, 19)}Z`)),
  Date: () => typed(tagged('@date', new Date().toISOString().slice(0, 10))),
  Bytes: () => typed(tagged('@bytes', '')),
  UUID: () => typed(tagged('@uuid', '00000000-0000-0000-0000-000000000000')),
  Object: () => typed(new Map()),
}

const wordPattern = /\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|-?\d+(?:\.\d+)?|[A-Za-z_]\w*|[^\s])/y

/** A recursive descent parser of one signature. */
class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  /** The next word, which is not consumed; empty at the end. */
  get #word(): string {
    wordPattern.lastIndex = this.#at
    return wordPattern.exec(this.#text)?.[1] ?? ''
  }

  #take(): string {
    const word = this.#word
    this.#at = word === '' ? this.#text.length : wordPattern.lastIndex
    return word
  }

  #skips(word: string): boolean {
    const isNext = this.#word === word
    if (isNext) this.#take()
    return isNext
  }

  union(): Signature {
    const from = this.#at
    const members = [this.#part()]
    while (this.#skips('|')) members.push(this.#part())
    const [first = anySignature] = members.filter(({ start }) => start !== null)
    const text = this.#text.slice(from, this.#at).trim()
    return { ...first, text, isOptional: members.some(({ isOptional }) => isOptional) }
  }

  #part(): Signature {
    let part = this.#base()
    while (this.#skips('?')) part = { ...part, isOptional: true }
    return part
  }

  #base(): Signature {
    const word = this.#take()
    if (word === '{') return this.#object()
    if (word === '(') return this.#list(')')[0] ?? anySignature
    if (word === '[') return typed(this.#list(']').map(({ start }) => start))
    if (word === 'true' || word === 'false') return typed(word === 'true')
    if (/^["']/.test(word)) return typed(word.slice(1, -1).replaceAll(/\\(.)/g, '$1'))
    if (/^-?\d/.test(word)) return typed(word.includes('.') ? Number(word) : BigInt(word))
    if (!/^[A-Za-z_]/.test(word)) throw new SyntaxError(`no type begins with ${word}`)
    return this.#named(word)
  }

  #named(name: string): Signature {
    const [first] = this.#skips('<') ? this.#list('>') : []
    if (name === 'Ref' && first) return first
    if (name === 'Array') return typed([], { element: first })
    const known = Object.hasOwn(named, name) ? named[name] : undefined
    if (known) return known()
    // `NullName` is the type of a missing document of the collection `Name`.
    if (/^Null[A-Z]/.test(name)) return typed(null)
    return typed(referenceValue('', collectionValue(name)), { collection: name })
  }

  #list(end: string): Signature[] {
    const list: Signature[] = []
    while (!this.#skips(end)) {
      list.push(this.union())
      if (!this.#skips(',') && this.#word !== end) throw new SyntaxError(`${end} is missing`)
    }
    return list
  }

  #object(): Signature {
    const fields = new Map<string, Signature>()
    while (!this.#skips('}')) {
      const key = this.#take().replaceAll(/^["']|["']$/g, '')
      if (!this.#skips(':')) throw new SyntaxError('a field has no type')
      const type = this.union()
      const hasDefault = this.#skips('=')
      if (hasDefault) this.#skipExpression()
      if (key !== '*') fields.set(key, hasDefault ? { ...type, isOptional: true } : type)
      this.#skips(',')
    }
    return typed(startOf(fields), { fields })
  }

  /** Skips a default value up to a comma or brace outside brackets. */
  #skipExpression(): void {
    for (let depth = 0; this.#word !== ''; ) {
      if (depth === 0 && (this.#word === ',' || this.#word === '}')) return
      const word = this.#take()
      if ('([{'.includes(word)) depth++
      if (')]}'.includes(word)) depth--
    }
  }
}

/** Returns the initial values of the required fields. */
export function startOf(fields: ReadonlyMap<string, Signature>): ReadonlyMap<string, Json> {
  const required = [...fields].filter(([, { isOptional }]) => !isOptional)
  return new Map(required.map(([name, { start }]) => [name, start]))
}

/** Returns {@link anySignature} for a text that is not a signature. */
export function readSignature(text: string): Signature {
  try {
    return new Reader(text).union()
  } catch {
    return anySignature
  }
}
