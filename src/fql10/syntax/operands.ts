// Parts of the parser: the links of chains, the fields of objects and projections, and the cases of `match`.

import { msg } from '../../base/message.ts'
import { keyOf, readNumber, readString, startsNumber, startsString } from './literals.ts'
import { type Link, type Node, type ProjectedField, type ProjectionNode, shortParameter } from './nodes.ts'
import { code, SourceReader } from './reader.ts'
import { readType } from './types.ts'

// Parses the links of a chain after its operand: fields, calls, index accesses and assertions.

const writing: ReadonlySet<string> = new Set(
  'create createData update updateData replace replaceData delete login logout'.split(' '),
)

/** A subclass (parser.ts) parses the expressions in the brackets of calls and accesses. */
abstract class ChainReader extends SourceReader {
  /** True if the text calls a method that may write. */
  mayWrite = false
  /** The names that the text calls, or uses as values: variables and user functions. */
  readonly #valueNames = new Set<string>()
  readonly variables = new Set<string>()

  get mayCallFunctions(): boolean {
    return !this.#valueNames.isSubsetOf(this.variables)
  }

  abstract list(bracket: ']' | ')', shortAllowed: boolean): Node[]

  /** The text of the operand ends at `end`. */
  chain(operand: Node, end: number): Node {
    const links: Link[] = []
    let last = end
    let before: BeforeAssertion = { start: operand.start, skippedStart: operand.start }
    for (;;) {
      if (!(operand.kind === 'name' && operand.name === shortParameter && links.length === 0)) this.blanks()
      const link = this.#link(before, links.length === 0 ? operand : undefined)
      if (link === undefined) break
      links.push(link)
      last = link.end
      before = beforeAssertion(link)
    }
    const [first] = links
    if (operand.kind === 'name' && operand.name !== shortParameter && (!first || first.kind === 'call'))
      this.#valueNames.add(operand.name)
    if (first === undefined) return operand
    return { kind: 'chain', operand, links, start: operand.start, end: last }
  }

  #link(before: BeforeAssertion, operand: Node | undefined): Link | undefined {
    const { text } = this
    const unit = this.unit()
    const start = this.at
    if (unit === code.exclamation) {
      const next = text.charCodeAt(start + 1)
      if (next === code.equals || next === code.tilde) return undefined
      this.at++
      return { kind: 'assert', ...before, end: this.at }
    }
    if (unit === code.open || unit === code.openBracket) return this.#callOrAccess(false)
    this.lines()
    if (this.follows('?.')) return this.#optionalLink()
    if (this.unit() !== code.dot || text.charCodeAt(this.at + 1) === code.dot) {
      this.at = start
      return undefined
    }
    const dot = this.at++
    if (operand?.kind === 'name' && operand.name === shortParameter) {
      const next = this.unit()
      if (next === code.open || next === code.openBracket) return this.#callOrAccess(false)
    }
    const isInteger = operand?.kind === 'literal' && typeof operand.value === 'bigint' && dot === operand.end
    this.lines()
    if (!this.isName) throw isInteger ? this.expected('digit', 'identifier') : this.expected('identifier')
    return this.#field(dot, false)
  }

  #optionalLink(): Link {
    const start = this.at
    this.at += 2
    this.lines()
    if (this.unit() === code.open || this.unit() === code.openBracket) return this.#callOrAccess(true)
    if (!this.isName) throw this.expected('`(`', '`[`', 'identifier')
    return this.#field(start, true)
  }

  #field(start: number, optional: boolean): Link {
    const nameStart = this.at
    const name = this.anyName()
    const nameEnd = this.at
    this.blanks()
    const optionalCall = this.follows('?.(')
    if (optionalCall) this.at += 2
    if (this.unit() !== code.open) {
      this.at = nameEnd
      return { kind: 'field', start, end: nameEnd, name, nameStart, optional }
    }
    const argumentsStart = this.at++
    if (writing.has(name)) this.mayWrite = true
    const args = this.list(')', true)
    return {
      kind: 'method',
      start,
      end: this.at,
      name,
      nameStart,
      nameEnd,
      argumentsStart,
      arguments: args,
      optional,
      optionalCall,
    }
  }

  #callOrAccess(optional: boolean): Link {
    const start = this.at
    const isCall = this.unit() === code.open
    this.at++
    const args = this.list(isCall ? ')' : ']', true)
    return { kind: isCall ? 'call' : 'access', start, end: this.at, arguments: args, optional }
  }
}

type BeforeAssertion = Pick<Extract<Link, { kind: 'assert' }>, 'start' | 'skippedStart'>

/** Errors about a failed assertion `!` after `link` underline the text from one of these starts. */
function beforeAssertion(link: Link): BeforeAssertion {
  const { start } = link
  if (link.kind !== 'field' && link.kind !== 'method') return { start, skippedStart: start }
  // For `?.`, the range starts at the dot.
  const skippedStart = link.optional ? start + 1 : start
  return { start: link.kind === 'field' ? link.nameStart : link.argumentsStart, skippedStart }
}

/** A subclass (parser.ts) parses the expressions in the fields. */
export abstract class ObjectReader extends ChainReader {
  /** The last string literal that was parsed as a possible key. If it is not a key, `string` returns this node. */
  #read: { readonly node: Node; readonly end: number } | undefined

  abstract expression(shortAllowed: boolean): Node

  /** Returns the cached node if the literal was already parsed as a possible key. */
  string(): Node {
    const known = this.#read
    if (known?.node.start === this.at) {
      this.at = known.end
      return known.node
    }
    return readString(this, this.interpolation)
  }

  readonly interpolation = (): Node => {
    this.lines()
    const node = this.expression(false)
    this.lines()
    this.requires('}')
    return node
  }

  /** True if a key and a colon follow. The position does not change. */
  startsKey(): boolean {
    const start = this.at
    if (startsString(this)) {
      const node = this.string()
      this.#read = { node, end: this.at }
    } else if (this.isName) this.skipName()
    else return false
    this.blanks()
    const found = this.unit() === code.colon
    this.at = start
    return found
  }

  /** The opening brace at `start` has been read. */
  object(start: number): Node {
    const fields: (readonly [string, Node])[] = []
    const places = new Map<string, { readonly start: number; readonly end: number }>()
    this.#fields(() => {
      const keyStart = this.at
      const key = this.#key()
      const first = places.get(key)
      if (first !== undefined) {
        const remarks = [this.remark('hint', 'Key originally used here', first.start, first.end)]
        this.record(msg`Duplicate key`, keyStart, this.at, { remarks })
      } else places.set(key, { start: keyStart, end: this.at })
      this.blanks()
      this.requires(':')
      this.lines()
      fields.push([key, this.expression(false)])
    })
    return { kind: 'object', fields, start, end: this.at }
  }

  /** Reads up to the closing brace. `read` parses one field. */
  #fields(read: (isFirst: boolean) => void): void {
    let isFirst = true
    do {
      this.lines()
      if (!isFirst && this.unit() === code.closeBrace) break
      read(isFirst)
      isFirst = false
      this.lines()
    } while (this.skips(','))
    if (!this.skips('}')) throw this.expected('`,`', '`}`')
  }

  #key(): string {
    return startsString(this) ? keyOf(this.string(), this) : this.anyName()
  }

  /** Includes the opening brace. */
  projection(operand: Node): ProjectionNode {
    const fieldsStart = this.at++
    this.lines()
    const isWhole = this.skips('*')
    const fields: ProjectedField[] = []
    if (isWhole) {
      this.lines()
      this.requires('}')
    } else {
      this.#fields(isFirst => {
        if (!this.isName) throw isFirst ? this.expected('`*`', 'identifier') : this.expected('identifier')
        fields.push(this.#projectedField())
      })
    }
    const end = this.at
    this.blanks()
    const { start } = operand
    return { kind: 'projection', operand, fieldsStart, fields: isWhole ? undefined : fields, start, end }
  }

  #projectedField(): ProjectedField {
    const nameStart = this.at
    const name = this.name()
    const end = this.at
    this.blanks()
    if (this.skips(':')) {
      this.lines()
      return { name, isBare: false, value: this.expression(true) }
    }
    const operand: Node = { kind: 'name', name: shortParameter, start: nameStart, end: nameStart }
    const link: Link = { kind: 'field', start: nameStart, end, name, nameStart, optional: false }
    const value: Node = { kind: 'chain', operand, links: [link], start: nameStart, end }
    return { name, isBare: true, value: this.unit() === code.openBrace ? this.projection(value) : value }
  }
}

// Parses the cases of `match` without building nodes, because evaluating a `match` always fails.

/** Skips `{ case pattern => expression … }`. */
export function skipCases(reader: SourceReader, expression: () => Node, separators: () => boolean): void {
  reader.lines()
  reader.requires('{')
  reader.lines()
  do {
    if (reader.unit() === code.closeBrace) break
    if (!reader.skipsWord('case')) throw reader.expected()
    reader.lines()
    skipPattern(reader)
    reader.lines()
    reader.requires('=>')
    reader.lines()
    expression()
  } while (separators())
  reader.lines()
  reader.requires('}')
}

function skipPattern(reader: SourceReader): void {
  if (startsNumber(reader)) readNumber(reader)
  else if (startsString(reader)) {
    readString(reader, () => {
      throw reader.expected()
    })
  } else if (reader.skips('(')) skipPatterns(reader, ')')
  else if (reader.skips('[')) skipPatterns(reader, ']')
  else if (reader.skips('{')) skipPatterns(reader, '}')
  else if (reader.skips('...')) reader.name()
  else skipNamed(reader)
}

function skipNamed(reader: SourceReader): void {
  const name = reader.peekName()
  if (name === 'null' || name === 'true' || name === 'false') {
    reader.at += name.length
    return
  }
  reader.name()
  reader.blanks()
  if (reader.skips(':')) {
    reader.lines()
    readType(reader)
  } else if (reader.skips('@')) {
    reader.lines()
    skipPattern(reader)
  }
}

/** Skips patterns up to a closing bracket. In an object pattern, a key and a colon may precede each pattern. */
function skipPatterns(reader: SourceReader, bracket: string): void {
  reader.separated(bracket, () => {
    skipPattern(reader)
    reader.blanks()
    if (!reader.skips(':')) return
    reader.lines()
    skipPattern(reader)
  })
}
