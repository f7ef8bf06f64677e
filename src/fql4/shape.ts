// Computes the shape of a query for the query log: the function keys and their nesting, without data. Readers of the
// log may have no permission to see the data in queries. Therefore the shape contains only words of the language. All
// scalars and the names of fields and variables become `?`. The names of schema objects (collections, indexes,
// functions) become `?` or a mark (src/values/names.ts).
//
// The shape is computed for every request. To save time, it is computed in one pass over the text, without parsing the
// text into values.

import {
  blanksEnd,
  closeBrace,
  closeBracket,
  colon,
  comma,
  openBrace,
  openBracket,
  quote,
  stringEnd,
  unfinished,
  valueEnd,
  wordEnd,
} from '../values/json-scan.ts'
import { anyMark, markOf } from '../values/names.ts'

/** Maximum numbers: characters that are read from a query, characters of the shape, nesting levels. */
export const shapeLimits = { queryChars: 65_536, shapeChars: 2048, depth: 100 } as const

/** The replacement for removed text. A shape is escaped for use inside a JSON string. */
const removed = '\\"?\\"'

/** Approximate number of characters of an element of a list, without its keys, which are counted separately. */
const elementChars = 4

/** The end of a truncated shape. */
const cut = '…'

/** Keys whose value is plain data. The whole value is removed. */
const valueForms = ['@ref', '@ts', '@date', '@bytes', '@uuid', '@obj', 'quote']

/** Keys whose value is an object with keys chosen by the client. */
const namingForms = ['object', 'let']

/** Keys whose value is the name of a schema object, if the value is a string. */
const referringForms = ['collection', 'class', 'index', 'function']

/** A key that remains in the shape, with the kind of its value. */
interface Word {
  /** The escaped key, including the colon. */
  readonly text: string
  readonly content: 'code' | 'data' | 'object with client keys' | 'schema name'
}

class NotJson {}

/**
 * Returns a function that computes the shape of a query, escaped for a JSON string. In the shape, `names` become marks
 * (src/values/names.ts) instead of `?`.
 */
export function createShapeFunction(
  words: Iterable<string>,
): (query: string, names?: readonly string[]) => string {
  const table = new Map<string, Word>()
  const add = (keys: Iterable<string>, content: Word['content']) => {
    for (const key of keys) table.set(key, { text: `\\"${key}\\":`, content })
  }
  add(words, 'code')
  add(valueForms, 'data')
  add(namingForms, 'object with client keys')
  for (const key of referringForms) if (table.has(key)) add([key], 'schema name')
  const scanner = new Scanner(table)
  return (query, names = []) => scanner.shape(query, names)
}

class Scanner {
  readonly #words: ReadonlyMap<string, Word>
  #text = ''
  #names: readonly string[] = []
  #at = 0
  #room = 0

  constructor(words: ReadonlyMap<string, Word>) {
    this.#words = words
  }

  shape(text: string, names: readonly string[]): string {
    this.#text = text.slice(0, shapeLimits.queryChars)
    this.#names = names
    this.#at = 0
    this.#room = shapeLimits.shapeChars
    try {
      return this.#value(false, 0)
    } catch (error) {
      if (error instanceof NotJson) return removed
      throw error
    } finally {
      this.#text = ''
    }
  }

  get #isFull(): boolean {
    return this.#room <= 0 || this.#isCut
  }

  /** The scanner has reached the end of the read part of a long query. */
  get #isCut(): boolean {
    return this.#at >= shapeLimits.queryChars
  }

  #peek(): number {
    this.#at = blanksEnd(this.#text, this.#at)
    return this.#text.charCodeAt(this.#at)
  }

  #value(hasClientKeys: boolean, depth: number): string {
    if (depth > shapeLimits.depth || this.#isFull) {
      this.#room = 0
      return cut
    }
    switch (this.#peek()) {
      case openBrace:
        this.#at++
        return this.#object(hasClientKeys, depth)
      case openBracket:
        this.#at++
        return this.#list(closeBracket, hasClientKeys, depth)
      default:
        this.#skipScalar()
        return removed
    }
  }

  #object(hasClientKeys: boolean, depth: number): string {
    if (hasClientKeys) return this.#list(closeBrace, false, depth)
    let code = this.#peek()
    if (code === closeBrace) {
      this.#at++
      return '{}'
    }
    let shape = ''
    for (;;) {
      if (this.#isFull) return `${shape}${cut}`
      if (code !== quote) throw new NotJson()
      const start = this.#at
      this.#skipString()
      if (this.#isCut) return `${shape}${cut}`
      const word = this.#words.get(this.#text.slice(start + 1, this.#at - 1))
      // An object whose first key is not a word of the language is data. Its shape has no keys, like that of a list.
      if (word === undefined && shape === '') {
        this.#at = start
        return this.#list(closeBrace, false, depth)
      }
      if (!this.#skips(colon)) return `${shape}${cut}`
      const key = word === undefined ? `${removed}:` : word.text
      this.#room -= key.length
      shape += shape === '' ? `{${key}` : `,${key}`
      shape += this.#content(word, depth + 1)
      code = this.#peek()
      this.#at++
      if (code === closeBrace) return `${shape}}`
      if (code !== comma) {
        if (this.#isFull) return `${shape}${cut}`
        throw new NotJson()
      }
      code = this.#peek()
    }
  }

  #content(word: Word | undefined, depth: number): string {
    if (word?.content === 'schema name' && this.#names.length > 0 && this.#peek() === quote)
      return this.#name()
    if (word?.content !== 'data') return this.#value(word?.content === 'object with client keys', depth)
    this.#skipValue()
    return removed
  }

  /** Returns the shape of a string that may be the name of a schema object. */
  #name(): string {
    const start = this.#at + 1
    this.#skipString()
    const mark = markOf(this.#names.indexOf(this.#text.slice(start, this.#at - 1)))
    return mark === undefined ? removed : `\\"${mark}\\"`
  }

  /** Writes equal neighbours once, so queries with 10 and with 1000 values have the same shape. */
  #list(close: number, hasClientKeys: boolean, depth: number): string {
    let shape = '['
    let previous = ''
    if (this.#peek() === close) {
      this.#at++
      return '[]'
    }
    for (;;) {
      if (this.#isFull) return `${shape}${cut}`
      if (close === closeBrace && !this.#skipsKey()) return `${shape}${cut}`
      const element = this.#value(hasClientKeys, depth + 1)
      if (element !== previous && !this.#areAlike(element, previous)) {
        shape += previous === '' ? element : `,${element}`
        this.#room -= elementChars
        previous = element
      }
      const code = this.#peek()
      this.#at++
      if (code === close) return `${shape}]`
      if (code !== comma) {
        if (this.#isFull) return `${shape}${cut}`
        throw new NotJson()
      }
    }
  }

  /** Two shapes are alike if they differ only in marks. The log treats them as equal. */
  #areAlike(left: string, right: string): boolean {
    return this.#names.length > 0 && left.replace(anyMark, '?') === right.replace(anyMark, '?')
  }

  /** Skips a key and its colon. Returns false if the text was cut before their end. */
  #skipsKey(): boolean {
    if (this.#peek() !== quote && !this.#isCut) throw new NotJson()
    if (!this.#isCut) this.#skipString()
    return this.#skips(colon)
  }

  /** Returns false if the text was cut before the expected character. */
  #skips(expected: number): boolean {
    const found = this.#peek()
    if (this.#isCut) return false
    if (found !== expected) throw new NotJson()
    this.#at++
    return true
  }

  #skipString(): void {
    const end = stringEnd(this.#text, this.#at)
    this.#skipTo(end === unfinished ? end : end + 1)
  }

  #skipScalar(): void {
    if (this.#text.charCodeAt(this.#at) === quote) {
      this.#skipString()
      return
    }
    const end = wordEnd(this.#text, this.#at)
    if (end === this.#at && !this.#isFull) throw new NotJson()
    this.#at = end
  }

  #skipValue(): void {
    const first = this.#peek()
    if (first === openBrace || first === openBracket) this.#skipTo(valueEnd(this.#text, this.#at))
    else this.#skipScalar()
  }

  /**
   * Moves to `end`. If the text was cut before `end`, moves to the end of the cut text, where the shape is truncated.
   */
  #skipTo(end: number): void {
    if (end === unfinished && this.#text.length < shapeLimits.queryChars) throw new NotJson()
    this.#at = end === unfinished ? shapeLimits.queryChars : end
  }
}
