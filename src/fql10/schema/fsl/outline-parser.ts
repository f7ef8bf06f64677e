// Parses a schema file to its outline (outline.ts) in one pass. Parsing stops at the first syntax error, with two
// exceptions: it skips an item with an unknown keyword, and a function body with an unexpected token, so that the
// conversion (conversion.ts) reports them together with later faults.

import { step, stepsPerDefinition } from '../../../base/effort.ts'
import { limits } from '../../../base/limits.ts'
import { msg } from '../../../base/message.ts'
import { resourceActions } from '../../../model/auth/access-contract.ts'
import { readString, startsString } from '../../syntax/literals.ts'
import type { Node, TypeNode } from '../../syntax/nodes.ts'
import { Parser } from '../../syntax/parser.ts'
import { char, ExpectedTokens } from '../../syntax/reader.ts'
import type { Source } from '../../syntax/source.ts'
import { readType } from '../../syntax/types.ts'
import { partKinds } from './index-parts.ts'
import type {
  OutlineAnnotation,
  OutlineBlock,
  OutlineField,
  OutlineFunction,
  OutlineItem,
  OutlineMember,
  OutlineMigration,
  OutlineName,
  OutlineParameter,
  OutlineValue,
  SourceRange,
} from './outline.ts'

/**
 * Keywords after which a name may follow. The conversion rejects a missing or superfluous name, so that it reports this
 * fault together with others. The name, or the value if the name is missing, may be on a later line.
 */
const namedKeywords: ReadonlySet<string> = new Set([
  ...partKinds,
  ...'collection role index unique predicate migrations privileges membership history_days ttl_days check'.split(
    ' ',
  ),
])

/** Keywords without a name: a word or string after them is their value, which is on the same line. */
const namelessKeywords: ReadonlySet<string> = new Set([
  ...resourceActions,
  'issuer',
  'jwks_uri',
  'document_ttls',
])

const migrationWords: ReadonlySet<string> = new Set(
  'add drop backfill move split move_conflicts move_wildcard add_wildcard'.split(' '),
)

/** The part of an item before its keyword. */
interface Beginning {
  readonly start: number
  readonly commentStart: number
  readonly annotations: readonly OutlineAnnotation[]
}

/** Throws ExpectedTokens at an unexpected token, and ParseAbort after it has recorded a fault of another kind. */
export class OutlineParser extends Parser {
  #blockDepth = 0
  /** Comments between the previous item and the current position. */
  #comments: (SourceRange & { readonly isLine: boolean })[] = []

  constructor(source: Source) {
    super(source, [])
  }

  file(): OutlineItem[] {
    const items: OutlineItem[] = []
    this.#separators()
    while (this.at < this.text.length) {
      if (!this.startsName && this.text[this.at] !== '@') throw this.expected('end-of-input')
      items.push(this.#topItem())
    }
    return items
  }

  /** Skips the separators after the item. */
  #topItem(): OutlineItem {
    const item = this.#item(this.#commentStart())
    if (!this.#separators() && this.at < this.text.length) throw this.#missingSeparator(item)
    return item
  }

  /**
   * Returns the error for text that follows an item without a separator. If the item has neither a name nor a value,
   * the error also names `identifier` as an expected token.
   */
  #missingSeparator(item: OutlineItem): ExpectedTokens {
    const isBare = item.form === 'member' && item.name === undefined && item.value === undefined
    return isBare ? this.expected('end-of-input', 'identifier') : this.expected('end-of-input')
  }

  /**
   * Collects the comments between items. Returns true if there is a separator: a line end, a semicolon or a comment.
   */
  #separators(): boolean {
    this.#comments = []
    let any = false
    for (;;) {
      const start = this.at
      const unit = this.unit()
      if (unit === char.blank || unit === char.tab) this.at++
      else if (unit === char.newline || unit === char.return || unit === char.semicolon) {
        this.at++
        any = true
      } else if (this.skipsLineComment()) {
        this.#comments.push({ start, end: this.at, isLine: true })
        any = true
      } else if (this.text.startsWith('/*', start)) {
        this.skipBlockComment()
        this.#comments.push({ start, end: this.at, isLine: false })
        any = true
      } else return any
    }
  }

  /** Returns the start of the comments directly before the current position, or this position if there are none. */
  #commentStart(): number {
    let start = this.at
    for (const { end, isLine, start: commentStart } of this.#comments.reverse()) {
      // A line comment includes its newline.
      const newline = isLine || this.text[end] !== '\n' ? 0 : 1
      if (end + newline !== start) break
      start = commentStart
    }
    return start
  }

  #item(commentStart = this.at): OutlineItem {
    step(stepsPerDefinition)
    const start = this.at
    const beginning = { start, commentStart, annotations: this.#annotations() }
    if (this.unit() === char.star || startsString(this) || this.#isField()) return this.#field(beginning)
    if (!this.startsName) throw this.expected('identifier')
    const keyword = this.#word()
    switch (keyword.text) {
      case 'function':
        return this.#function(beginning, keyword)
      case 'access':
        this.skipBlanks()
        if (!this.skipsWord('provider')) throw this.expected('provider')
        return this.#provider(beginning, { ...keyword, text: 'access provider', end: this.at })
    }
    if (migrationWords.has(keyword.text)) return this.#migration(beginning, keyword)
    if (namedKeywords.has(keyword.text) || namelessKeywords.has(keyword.text))
      return this.#member(beginning, keyword)
    return this.#unknown(beginning, keyword)
  }

  /** Skips an item with an unknown keyword. Returns it without name and value; the conversion rejects the keyword. */
  #unknown(beginning: Beginning, keyword: OutlineName): OutlineMember {
    this.at += this.text.slice(this.at, unreadableEnd(this.text, this.at)).trimEnd().length
    return { form: 'member', ...beginning, end: this.at, keyword, name: undefined, value: undefined }
  }

  #annotations(): OutlineAnnotation[] {
    const annotations: OutlineAnnotation[] = []
    while (this.text[this.at] === '@') {
      const start = this.at++
      const kind = this.skipsWord('alias') ? 'alias' : this.skipsWord('role') ? 'role' : undefined
      if (kind === undefined) throw this.expected('`alias`', '`role`')
      this.skipBlanks()
      if (!this.skips('(')) throw this.expected('`(`')
      this.skipSpace()
      const name = this.#name()
      this.skipSpace()
      if (!this.skips(')')) throw this.expected('`)`')
      annotations.push({ kind, name, start, end: this.at })
      this.skipSpace()
    }
    return annotations
  }

  /** Reads a word. Unlike a name, it may be a keyword of the query language. */
  #word(): OutlineName {
    const start = this.at
    const text = this.anyName()
    return { text, start, end: this.at }
  }

  /** A name is a word other than a keyword, or a string literal. */
  #name(): OutlineName {
    const start = this.at
    if (startsString(this)) {
      // The result is a literal, because an interpolation is an error.
      const node = readString(this, () => {
        throw this.expected('name')
      })
      return { text: node.kind === 'literal' ? String(node.value) : '', start, end: this.at }
    }
    if (!this.startsName) throw this.expected('name')
    return { text: this.name(), start, end: this.at }
  }

  /** A field is a name before a colon or an equals sign, or a computed field. The position does not change. */
  #isField(): boolean {
    if (!this.startsName) return false
    const start = this.at
    const word = this.anyName()
    this.skipBlanks()
    const startsName = this.startsName || startsString(this) || this.unit() === char.star
    const found = word === 'compute' ? startsName : this.unit() === char.colon || this.skipsEquals()
    this.at = start
    return found
  }

  #field({ annotations, commentStart, start }: Beginning): OutlineField {
    const from = this.at
    let compute: SourceRange | undefined
    if (this.skipsWord('compute')) {
      this.skipBlanks()
      compute = { start: from, end: this.at }
    }
    const nameStart = this.at
    const isWildcard = this.skips('*')
    const name = isWildcard ? { text: '*', start: nameStart, end: this.at } : this.#name()
    let end = this.at
    let type: TypeNode | undefined
    this.skipBlanks()
    if (this.skips(':')) {
      this.skipSpace()
      type = this.#type()
      end = this.at
      this.skipBlanks()
    }
    let value: Node | undefined
    if (this.skipsEquals()) {
      this.skipSpace()
      value = this.#expression()
      end = value.end
    } else if (type === undefined && compute === undefined) throw this.expected('`:`', '`=`')
    this.at = end
    return { form: 'field', annotations, commentStart, start, end, compute, name, isWildcard, type, value }
  }

  #expression(): Node {
    if (!this.startsExpression()) throw this.expected('expression')
    return this.expression(false)
  }

  /** Other text may follow the type. */
  #type(): TypeNode {
    return readType(this, { readDefault: () => this.expression(false), isPart: true })
  }

  #member({ annotations, commentStart, start }: Beginning, keyword: OutlineName): OutlineMember {
    let end = this.at
    let name: OutlineName | undefined
    const skip = () => (namedKeywords.has(keyword.text) ? this.skipSpace() : this.skipBlanks())
    if (!namelessKeywords.has(keyword.text)) {
      skip()
      if (this.startsName || startsString(this)) {
        name = this.#name()
        end = this.at
      }
    }
    if (name === undefined) skip()
    else this.skipBlanks()
    const value = this.#value()
    this.at = value?.end ?? end
    return { form: 'member', annotations, commentStart, start, end: this.at, keyword, name, value }
  }

  #value(): OutlineValue | undefined {
    const start = this.at
    switch (this.unit()) {
      case char.openBrace:
        return this.#block()
      case char.openBracket:
        return { kind: 'list', elements: this.#list(), start, end: this.at }
    }
    if (!this.startsExpression()) return undefined
    const node = this.expression(false)
    return { kind: 'expression', node, start: node.start, end: node.end }
  }

  #provider(beginning: Beginning, keyword: OutlineName): OutlineMember {
    this.skipSpace()
    const name = this.#name()
    this.skipSpace()
    const value = this.#value()
    if (value === undefined) throw this.expected('expression')
    this.at = value.end
    return { form: 'member', ...beginning, end: this.at, keyword, name, value }
  }

  #list(): Node[] {
    this.at++
    const elements: Node[] = []
    this.skipSpace()
    if (this.skips(']')) return elements
    for (;;) {
      if (!this.startsExpression()) throw this.expected('`]`', 'expression')
      this.#rejectBareDot()
      elements.push(this.expression(true))
      this.skipSpace()
      if (this.skips(']')) return elements
      if (!this.skips(',')) throw this.expected('`,`', '`]`')
      this.skipSpace()
      if (this.unit() === char.closeBracket) throw this.expected('expression')
    }
  }

  /** A lone dot is not a path. */
  #rejectBareDot(): void {
    const start = this.at
    if (!this.skips('.')) return
    this.skipSpace()
    if (this.unit() === char.closeBracket || this.unit() === char.comma) {
      throw this.expected('`]`', 'expression')
    }
    this.at = start
  }

  #block(): OutlineBlock {
    const start = this.at++
    if (++this.#blockDepth > limits.v10NestingMax) {
      throw this.fault(msg`The schema is nested too deeply`, start, start + 1)
    }
    const members: OutlineItem[] = []
    this.#separators()
    while (!this.skips('}')) {
      const unit = this.unit()
      const begins = this.startsName || startsString(this) || unit === char.star || this.text[this.at] === '@'
      if (!begins) throw this.expected('`}`')
      members.push(this.#item())
      const isSeparated = this.#separators()
      if (!isSeparated && this.unit() !== char.closeBrace) throw this.expected('`}`')
    }
    this.#blockDepth--
    return { kind: 'block', members, start, end: this.at }
  }

  #migration({ annotations, commentStart, start }: Beginning, keyword: OutlineName): OutlineMigration {
    const paths: Node[] = []
    let value: Node | undefined
    if (keyword.text !== 'add_wildcard') paths.push(this.#path())
    let end = this.at
    if (keyword.text === 'backfill') {
      this.skipBlanks()
      if (!this.skipsEquals()) throw this.expected('`=`')
      this.skipSpace()
      value = this.#expression()
      end = value.end
    } else if (keyword.text === 'move' || keyword.text === 'split') {
      this.skipBlanks()
      if (!this.skips('->')) throw this.expected('`->`')
      do {
        paths.push(this.#path())
        end = this.at
        this.skipBlanks()
      } while (keyword.text === 'split' && this.skips(','))
    }
    this.at = end
    return { form: 'migration', annotations, commentStart, start, end, keyword, paths, value }
  }

  #path(): Node {
    this.skipBlanks()
    if (!this.startsExpression()) throw this.expected('expression')
    const node = this.operand()
    this.at = node.end
    return node
  }

  #function({ annotations, commentStart, start }: Beginning, keyword: OutlineName): OutlineFunction {
    this.skipBlanks()
    const name = this.#name()
    this.skipBlanks()
    const listStart = this.at
    if (!this.skips('(')) throw this.expected('`(`')
    const parameters = this.#parameters()
    const list = { start: listStart, end: this.at }
    this.skipSpace()
    let result: TypeNode | undefined
    if (this.skips(':')) {
      this.skipSpace()
      result = this.#type()
      this.skipSpace()
    }
    const body = this.#functionBody()
    const base = { form: 'function', annotations, commentStart, start, end: this.at } as const
    return { ...base, keyword, name, parameters, list, result, body }
  }

  #parameters(): OutlineParameter[] {
    const parameters: OutlineParameter[] = []
    this.skipSpace()
    while (!this.skips(')')) {
      const parameter = this.#parameter()
      const last = parameters.at(-1)
      if (last?.isRest)
        throw this.fault(msg`Variadic argument must be the last argument.`, last.start, last.end)
      parameters.push(parameter)
      this.skipSpace()
      if (this.skips(',')) this.skipSpace()
      else if (this.unit() !== char.close) {
        throw parameter.type === undefined
          ? this.expected('`)`', '`,`', 'a type annotation')
          : this.expected('`)`')
      }
    }
    return parameters
  }

  #parameter(): OutlineParameter {
    const start = this.at
    const isRest = this.skips('...')
    if (isRest) this.skipSpace()
    if (!this.startsName)
      throw isRest ? this.expected('identifier') : this.expected('`)`', '`...`', 'identifier')
    const nameStart = this.at
    const name = { text: this.name(), start: nameStart, end: this.at }
    const end = this.at
    this.skipBlanks()
    let type: TypeNode | undefined
    if (this.skips(':')) {
      this.skipSpace()
      type = this.#type()
    }
    return { name, isRest, type, start, end }
  }

  /**
   * At an unexpected token, skips the body and returns undefined. Any other syntax error is already recorded
   * (`ParseAbort`), and ends the parsing of the file.
   */
  #functionBody() {
    const start = this.at
    try {
      return this.block()
    } catch (error) {
      if (!(error instanceof ExpectedTokens)) throw error
      this.at = unreadableEnd(this.text, start)
      return undefined
    }
  }
}

const closers = new Set([')', ']', '}'])

/**
 * The end of an item with an unknown keyword, or of a function body with a syntax error. Parsing continues after this
 * end, so that the faults of later items are also reported. The end is the next line end, semicolon or closing brace
 * outside of the item's brackets, strings and comments, else the end of the text. As in the hosted service, the kind of
 * a closing bracket is not checked: a `)` also closes a `[` or `{`. The exception is a `}` where the innermost open
 * bracket is `(` or `[`: it ends the item.
 */
function unreadableEnd(text: string, start: number): number {
  const open: string[] = []
  let at = start
  while (at < text.length) {
    step()
    const unit = text[at] as string
    if (unit === "'" || unit === '"') at = stringEnd(text, at)
    else if (unit === '/' && text[at + 1] === '/') at = lineEnd(text, at) - 1
    else if (unit === '/' && text[at + 1] === '*') at = commentEnd(text, at)
    else if (open.length === 0 && '\r\n;}'.includes(unit)) return at
    else if ('([{'.includes(unit)) open.push(unit)
    else if (closers.has(unit) && open.pop() !== '{' && unit === '}') return at
    at++
  }
  return text.length
}

/** The offset of the closing quote. */
function stringEnd(text: string, start: number): number {
  let at = start + 1
  while (at < text.length && text[at] !== text[start]) at += text[at] === '\\' ? 2 : 1
  return at
}

function lineEnd(text: string, start: number): number {
  let at = start
  while (at < text.length && text[at] !== '\n' && text[at] !== '\r') at++
  return at
}

/** The offset of the comment's last character. Comments can be nested. */
function commentEnd(text: string, start: number): number {
  let depth = 1
  let at = start + 2
  for (; at < text.length; at++) {
    const pair = text.slice(at, at + 2)
    if (pair === '/*') depth++
    else if (pair === '*/' && --depth === 0) return at + 1
    else continue
    at++
  }
  return at
}
