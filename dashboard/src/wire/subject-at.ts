// Finds the collection of the value before the cursor in a query of version 10, for completion. The query is incomplete
// while the user types, so the code follows the words backwards from the cursor, and evaluates nothing.

/** The user is typing a member of this object. */
export interface Subject {
  /** `document`: a document, or an object in a document. `collection`: a collection, with its indexes as members. */
  readonly kind: 'document' | 'collection'
  readonly collection: string
  /** Fields from a document to the object. */
  readonly path: readonly string[]
}

const wordPattern =
  /\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)|"(?:[^"\\]|\\.)*"?|'(?:[^'\\]|\\.)*'?|`(?:[^`\\]|\\.)*`?|[\p{L}_][\p{L}\p{Nd}_]*|\d[\w.]*|=>|\?\.|&&|\|\||[=!<>]=|\S/gu

const isName = (word: string | undefined) => word !== undefined && /^[\p{L}_]/u.test(word)
const isDot = (word: string | undefined) => word === '.' || word === '?.'

/** Not operands. A dot after one of these words begins a shorthand function, such as `.name`. */
const keywords = new Set(['let', 'if', 'else', 'at', 'isa', 'true', 'false', 'null'])

/** Accesses an element of an array in a chain. */
const elementStep = '[]'
/** Methods of collections, sets and documents that return a document of the collection. */
const documentMethods = new Set([
  ...['byId', 'create', 'createData', 'first', 'last', 'firstWhere', 'lastWhere', 'at', elementStep],
  ...['update', 'updateData', 'replace', 'replaceData'],
])
/** Methods of collections and sets whose result contains documents of the collection: a set, a page or an array. */
const setMethods = new Set([
  ...['all', 'where', 'order', 'distinct', 'concat', 'take', 'drop', 'reverse', 'pageSize', 'toSet'],
  ...['toArray', 'paginate'],
])
/** The methods whose argument is an object of fields. */
const writers = new Set(['create', 'createData', 'update', 'updateData', 'replace', 'replaceData'])

/** Number of characters before the cursor that are parsed. */
const lookBackChars = 10_000

/**
 * A name begins at the end of `text`, after a dot or as a key of an object. Finds the value that has a member with this
 * name. `collections`: names of all collections. Returns undefined if the collection of the value is unknown.
 */
export function subjectAt(text: string, collections: ReadonlySet<string>): Subject | undefined {
  const before = text.slice(-lookBackChars)
  const found = [...before.matchAll(wordPattern)]
  // Strings and comments contain no names.
  const last = found.at(-1)
  if (last && /^(["'`]|\/[/*])/.test(last[0]) && last.index + last[0].length === before.length)
    return undefined
  const words = found.map(([word]) => word).filter(word => !/^\/[/*]/.test(word))
  return new Finder(words, collections).subject()
}

/** The value of an expression, as far as the text of the query shows it. `path`: fields from a document to the value. */
interface StaticValue {
  readonly kind: 'collection' | 'set' | 'document'
  readonly collection: string
  readonly path: readonly string[]
}

class Finder {
  readonly #words: readonly string[]
  readonly #collections: ReadonlySet<string>

  constructor(words: readonly string[], collections: ReadonlySet<string>) {
    this.#words = words
    this.#collections = collections
  }

  #word(at: number): string | undefined {
    return this.#words[at]
  }

  subject(): Subject | undefined {
    const end = this.#words.length
    if (!isDot(this.#word(end - 1))) return this.#key(end)
    const found = this.#isOperand(end - 2) ? this.#expression(end - 1) : this.#lambdaElement(end - 1)
    return found && found.kind !== 'set' ? { ...found, kind: found.kind } : undefined
  }

  /** The word at `at` can end an expression. */
  #isOperand(at: number): boolean {
    const word = this.#word(at)
    if (word === undefined) return false
    if (isName(word)) return !keywords.has(word)
    return [')', ']', '}', '!'].includes(word)
  }

  /** The owner of the key before `end`: an object that is the argument of a method, or a projection. */
  #key(end: number): Subject | undefined {
    const previous = this.#word(end - 1)
    const open = previous === '{' || previous === ',' ? this.#enclosing(end) : undefined
    if (open === undefined || this.#word(open) !== '{') return undefined
    const around = this.#word(open - 1)
    // Methods receive fields as in `create({ … })`.
    if (around === '(' && !writers.has(this.#word(open - 2) ?? '')) return undefined
    const found = around === '(' ? this.#expression(open - 1) : this.#projected(open)
    if (found) return found.kind === 'collection' ? undefined : { ...found, kind: 'document' }
    // A nested object is written as `{ name: { … } }`, a projection as `{ name { … } }`.
    const name = around === ':' ? open - 2 : open - 1
    const outer = isName(this.#word(name)) ? this.#key(name) : undefined
    return outer && { ...outer, path: [...outer.path, this.#word(name) as string] }
  }

  /** The value before the projection that a brace opens; undefined for the brace of a block or an object. */
  #projected(open: number): StaticValue | undefined {
    return this.#isOperand(open - 1) ? this.#expression(open) : undefined
  }

  /** Nearest unclosed bracket before `end`, if any. */
  #enclosing(end: number): number | undefined {
    let depth = 0
    for (let at = end - 1; at >= 0; at--) {
      const word = this.#word(at) as string
      if (')]}'.includes(word)) depth++
      else if ('([{'.includes(word) && depth-- === 0) return at
    }
    return undefined
  }

  /** Parameter of the function around the word `before`, which is an argument of a method of a set. */
  #lambdaElement(before: number): StaticValue | undefined {
    for (let open = this.#enclosing(before); open !== undefined; open = this.#enclosing(open)) {
      const found = this.#word(open) === '(' ? this.#calledOn(open) : this.#projected(open)
      if (found && found.kind !== 'document') return { ...found, kind: 'document' }
    }
    return undefined
  }

  /** Set or collection whose method has the parenthesis at `open`. */
  #calledOn(open: number): StaticValue | undefined {
    return isName(this.#word(open - 1)) && isDot(this.#word(open - 2))
      ? this.#expression(open - 2)
      : undefined
  }

  /** Value of the chain of calls and fields that ends before `end`. */
  #expression(end: number): StaticValue | undefined {
    const steps: string[] = []
    let at = end - 1
    for (;;) {
      const word = this.#word(at)
      if (word === '!') at--
      else if (word === ')' || word === ']') {
        if (word === ']') steps.unshift(elementStep)
        at = (this.#enclosing(at) ?? 0) - 1
      } else if (isName(word)) {
        if (!isDot(this.#word(at - 1))) break
        steps.unshift(word as string)
        at -= 2
        // A chain that begins with a dot is a shorthand function: its first name is a field of the element.
        if (!this.#isOperand(at)) return steps.reduce(stepFrom, this.#lambdaElement(at + 1))
      } else return undefined
    }
    return steps.reduce(stepFrom, this.#named(this.#word(at) as string, at))
  }

  /** `at`: index of the word. Variables shadow collections. */
  #named(name: string, at: number): StaticValue | undefined {
    const bound = this.#variable(name, at)
    if (bound !== undefined) return bound ?? undefined
    return this.#collections.has(name) ? { kind: 'collection', collection: name, path: [] } : undefined
  }

  /**
   * Value of the last parameter or `let` with this name before the word at index `before`. Returns null if the value is
   * unknown; undefined if there is none.
   */
  #variable(name: string, before: number): StaticValue | null | undefined {
    for (let at = before - 1; at >= 0; at--) {
      if (this.#word(at) !== name) continue
      const next = this.#word(at + 1)
      if (next === '=>' || (next === ')' && this.#word(at + 2) === '=>'))
        return this.#lambdaElement(at) ?? null
      if (next === '=' && this.#word(at - 1) === 'let') return this.#expressionFrom(at + 2) ?? null
    }
    return undefined
  }

  /** Value of the chain that begins at the word `start`. */
  #expressionFrom(start: number): StaticValue | undefined {
    let at = start + 1
    for (; at < this.#words.length; at++) {
      const word = this.#word(at) as string
      if ('([{'.includes(word)) at = this.#closing(at)
      else if (isDot(word)) at++
      else if (word !== '!') break
    }
    return this.#expression(at)
  }

  #closing(open: number): number {
    let depth = 0
    for (let at = open; at < this.#words.length; at++) {
      const word = this.#word(at) as string
      if ('([{'.includes(word)) depth++
      if (')]}'.includes(word) && --depth === 0) return at
    }
    return this.#words.length
  }
}

function stepFrom(of: StaticValue | undefined, name: string): StaticValue | undefined {
  if (of === undefined) return undefined
  if (of.kind === 'document' && !documentMethods.has(name)) return { ...of, path: [...of.path, name] }
  if (documentMethods.has(name)) return { ...of, kind: 'document' }
  // Other members of a collection are its indexes, which return sets.
  return setMethods.has(name) || of.kind === 'collection' ? { ...of, kind: 'set' } : undefined
}
