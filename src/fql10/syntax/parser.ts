// Parses queries in a single pass by recursive descent. Usually, the next token determines the grammar rule. Otherwise,
// the parser converts nodes, for example a list in parentheses to parameters, so no text is parsed twice.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { readHeredoc, readNumber, startsHeredoc, startsNumber, startsString } from './literals.ts'
import { skipCases } from './match-cases.ts'
import {
  type BlockNode,
  type GroupNode,
  isShortLambda,
  type LambdaNode,
  type LetNode,
  type Node,
  shortParameter,
  type TypeNode,
} from './nodes.ts'
import { ObjectReader } from './object-reader.ts'
import { bodyOfShortLambda, type Operator, readOperator, treeOf } from './precedence.ts'
import { char, isKeyword, startsName } from './reader.ts'
import { placeholderText } from './template.ts'
import { readType } from './types.ts'

/** Expressions, or parameters if `=>` follows. */
interface ParenthesizedList {
  readonly start: number
  readonly end: number
  readonly elements: readonly Node[]
  readonly rest: { readonly name: string; readonly start: number } | undefined
}

/** Throws ExpectedTokens at an unexpected token, and ParseAbort after other fatal faults. */
export class Parser extends ObjectReader {
  #depth = 0
  /** True if the current operator expression is the body of a short lambda, such as `.age > 18`. */
  #usesShort = false

  query(): BlockNode {
    const body = this.#body('query')
    this.requiresEnd()
    return body
  }

  /** Parses a text that is a single lambda. A short lambda must be in parentheses. */
  lambda(): LambdaNode {
    const body = this.query()
    const [only] = body.statements
    const node = only?.kind === 'group' ? only.inner : only
    const isOnly = body.statements.length === 1
    if (isOnly && node?.kind === 'lambda' && (only === node || isShortLambda(node))) {
      // Even a semicolon after the lambda is an error.
      this.at = (only as Node).end
      this.requiresEnd()
      return node
    }
    const { start } = body
    // Of several statements, the error also underlines the character after the last, as on the hosted service.
    const end = isOnly ? (only as Node).end : Math.min(this.text.trimEnd().length + 1, this.text.length)
    const parts = isOnly
      ? {
          annotation: 'Expression is not a lambda.',
          remarks: [this.remark('hint', 'Declare a lambda.', start, start, '() => ')],
        }
      : {}
    throw this.fault(msg`Body must be a lambda expression.`, start, end, parts)
  }

  block(): BlockNode {
    const start = this.at
    this.requires('{')
    return this.#blockFrom(start)
  }

  /** The opening brace at `start` has been read. */
  #blockFrom(start: number): BlockNode {
    const body = this.#body('block')
    this.skipSpace()
    this.requires('}')
    return { ...body, start, end: this.at }
  }

  /** Parses an operand with its chain, such as the path `.a.b`, without binary operators. */
  operand(): Node {
    const outer = this.#usesShort
    const node = this.#term()
    this.#usesShort = outer
    return node
  }

  /** Parses statements up to the end of the query or the closing brace. */
  #body(what: 'query' | 'block'): BlockNode {
    this.skipSpace()
    const start = this.at
    const statements: (LetNode | Node)[] = []
    if (!this.startsExpression()) {
      const message = msg`Unexpected end of ${what}. Expected statement or expression`
      throw this.fault(message, start, start + 1)
    }
    do statements.push(this.#statement())
    while (this.#separators() && this.startsExpression())
    const end = this.at
    const last = statements.at(-1) as LetNode | Node
    if (last.kind === 'let') {
      this.skipSpace()
      if (this.at < this.text.length && this.unit() !== char.closeBrace)
        throw this.expected(what === 'query' ? 'end-of-input' : '`}`')
      const remarks = [this.remark('cause', 'Statement does not return a value', last.start, last.end)]
      throw this.fault(msg`Missing return expression`, this.at, this.at + 1, { remarks })
    }
    return { kind: 'block', statements, start, end }
  }

  /** Returns true if there was a separator. */
  #separators(): boolean {
    let any = false
    for (;;) {
      this.skipBlanks()
      const unit = this.unit()
      if (unit === char.semicolon || unit === char.newline || unit === char.return) this.at++
      else if (!this.skipsLineComment()) return any
      any = true
    }
  }

  startsExpression(): boolean {
    const unit = this.unit()
    if (startsName(unit) || startsString(this) || startsNumber(this) || this.placeholders.has(this.at))
      return true
    switch (unit) {
      case char.open:
      case char.openBracket:
      case char.openBrace:
      case char.minus:
      case char.tilde:
      case char.exclamation:
      case char.dot:
        return true
    }
    return startsHeredoc(this)
  }

  #statement(): LetNode | Node {
    const start = this.at
    if (!this.skipsWord('let')) return this.expression(false)
    this.skipSpace()
    const nameStart = this.at
    const name = this.name()
    this.skipSpace()
    let type: TypeNode | undefined
    if (this.skips(':')) {
      this.skipSpace()
      type = readType(this)
      this.skipSpace()
      if (!this.skipsEquals()) throw this.expected('`=`')
    } else if (!this.skipsEquals()) throw this.expected('`:`', '`=`')
    this.skipSpace()
    const value = this.expression(false)
    if (name === 'FQL' || name === '_') throw this.keywordFault(name, nameStart)
    this.variables.add(name)
    return { kind: 'let', name, nameStart, type, value, start, end: value.end }
  }

  /** If the text continues with `=`, and not with an operator such as `==`, moves past the `=` and returns true. */
  skipsEquals(): boolean {
    const next = this.text.charCodeAt(this.at + 1)
    if (this.unit() !== char.equals || next === char.equals || next === char.tilde || next === char.greater) {
      return false
    }
    this.at++
    return true
  }

  /** If `shortAllowed` is false, records a fault for a short lambda, such as `.name`. */
  expression(shortAllowed: boolean): Node {
    if (++this.#depth > limits.v10NestingMax) {
      throw this.fault(msg`The query is nested too deeply`, this.at, this.at + 1)
    }
    const outer = this.#usesShort
    this.#usesShort = false
    const node = this.#wholeExpression()
    const usesShort = this.#usesShort
    this.#usesShort = outer
    this.#depth--
    if (!usesShort) return node
    if (!shortAllowed) this.addFault(msg`Invalid anonymous field access`, node.start, node.end)
    const { start, end } = node
    return { kind: 'lambda', parameters: [shortParameter], rest: undefined, body: node, start, end }
  }

  #wholeExpression(): Node {
    const start = this.at
    if (this.startsName) {
      const name = this.peekName()
      if (isKeyword(name)) {
        const node = this.#keywordExpression(name)
        if (node !== undefined) return node
      } else {
        this.at += name.length
        const end = this.at
        this.skipBlanks()
        if (this.skips('=>')) return this.#lambda(start, [{ kind: 'name', name, start, end }], undefined)
        return this.#afterOperand(this.chain({ kind: 'name', name, start, end }, end), start)
      }
    }
    if (this.unit() === char.open) {
      const group = this.#parenthesized()
      const { end, elements, rest } = group
      this.skipBlanks()
      if (this.follows('=>') && elements.every(({ kind }) => kind === 'name')) {
        this.at += 2
        return this.#lambda(start, elements, rest)
      }
      if (rest !== undefined) {
        if (elements.every(({ kind }) => kind === 'name')) throw this.expected('`=>`')
        throw this.fault(msg`invalid variadic tuple`, start, end)
      }
      return this.#afterOperand(this.chain(this.#tuple(group), end), start)
    }
    return this.#afterOperand(this.#term(), start)
  }

  #keywordExpression(word: string): Node | undefined {
    const start = this.at
    switch (word) {
      case 'if':
        this.at += 2
        return this.#condition(start)
      case 'at': {
        this.at += 2
        const time = this.#inParentheses()
        const body = this.expression(false)
        return { kind: 'at', time, body, start, end: body.end }
      }
      case 'match':
        this.at += 5
        this.skipSpace()
        this.#term()
        skipCases(
          this,
          () => this.expression(false),
          () => this.#separators(),
        )
        return { kind: 'match', start, end: this.at }
    }
    return undefined
  }

  #condition(start: number): Node {
    const condition = this.#inParentheses()
    const then = this.expression(false)
    const before = this.at
    this.skipSpace()
    if (!this.skipsWord('else')) {
      this.at = before
      return { kind: 'if', condition, then, otherwise: undefined, start, end: then.end }
    }
    this.skipSpace()
    const otherwise = this.expression(false)
    return { kind: 'if', condition, then, otherwise, start, end: otherwise.end }
  }

  #inParentheses(): Node {
    this.skipSpace()
    this.requires('(')
    this.skipSpace()
    const node = this.expression(false)
    this.skipSpace()
    this.requires(')')
    this.skipSpace()
    return node
  }

  #lambda(start: number, names: readonly Node[], rest: ParenthesizedList['rest']): Node {
    const parameters: string[] = []
    const firstStarts = new Map<string, number>()
    for (const each of [...names, ...(rest === undefined ? [] : [{ ...rest, kind: 'name' as const }])]) {
      if (each.kind !== 'name') continue
      const first = firstStarts.get(each.name)
      const end = each.start + each.name.length
      if (each.name !== '_' && first !== undefined) {
        const message = 'Argument originally defined here'
        const remarks = [this.remark('hint', message, first, first + each.name.length)]
        this.addFault(msg`Duplicate lambda argument`, each.start, end, { remarks })
      } else firstStarts.set(each.name, each.start)
      parameters.push(each.name)
      this.variables.add(each.name)
    }
    if (rest !== undefined) parameters.pop()
    this.skipSpace()
    const body = this.expression(false)
    return { kind: 'lambda', parameters, rest: rest?.name, body, start, end: body.end }
  }

  /** Parses the operators, operands and the projection after the first operand. */
  #afterOperand(first: Node, start: number): Node {
    let node = first
    let operator = readOperator(this)
    if (operator !== undefined) {
      const operands = [this.#unwrapShortLambda(first)]
      const operators: Operator[] = []
      while (operator !== undefined) {
        operators.push(operator)
        this.skipSpace()
        operands.push(this.#unwrapShortLambda(this.#term()))
        operator = readOperator(this)
      }
      node = treeOf(operands, operators)
    }
    if (this.unit() !== char.openBrace) return node
    return { ...this.projection(node), start }
  }

  /** If an operand is a short lambda in parentheses, the complete operator expression becomes a short lambda. */
  #unwrapShortLambda(operand: Node): Node {
    const body = bodyOfShortLambda(operand)
    if (body === undefined) return operand
    this.#usesShort = true
    return body
  }

  /** Parses an operand with its unary operators and its chain. */
  #term(): Node {
    const start = this.at
    const signs: { operator: '-' | '~' | '!'; start: number }[] = []
    for (;;) {
      const unit = this.unit()
      const isSign = unit === char.minus || unit === char.tilde || unit === char.exclamation
      if (!isSign || startsNumber(this)) break
      signs.push({ operator: this.text[this.at] as '-' | '~' | '!', start: this.at })
      if (signs.length > limits.v10NestingMax)
        throw this.fault(msg`The query is nested too deeply`, start, start + 1)
      this.at++
      this.skipBlanks()
    }
    const operand = this.#operand()
    let node = this.chain(operand, operand.end)
    for (const { operator, start } of signs.reverse()) {
      node = { kind: 'unary', operator, operand: this.#unwrapShortLambda(node), start, end: node.end }
    }
    return node
  }

  #operand(): Node {
    const start = this.at
    const index = this.placeholders.get(start)
    if (index !== undefined) {
      this.at += placeholderText.length
      return { kind: 'placeholder', index, start, end: this.at }
    }
    if (this.startsName) return this.#word()
    if (startsNumber(this)) return readNumber(this)
    if (startsString(this)) return this.string()
    switch (this.unit()) {
      case char.open: {
        const group = this.#parenthesized()
        if (group.rest !== undefined) throw this.fault(msg`invalid variadic tuple`, start, group.end)
        return this.#tuple(group)
      }
      case char.openBracket:
        this.at++
        return { kind: 'array', elements: this.list(']', false), start, end: this.at }
      case char.openBrace:
        return this.#objectOrBlock()
      case char.dot:
        if (this.follows('..')) break
        this.#usesShort = true
        return { kind: 'name', name: shortParameter, start, end: start }
    }
    if (startsHeredoc(this)) return readHeredoc(this, this.interpolation)
    throw this.expected('expression')
  }

  #word(): Node {
    const start = this.at
    const name = this.anyName()
    const end = this.at
    switch (name) {
      case 'null':
        return { kind: 'literal', value: null, start, end }
      case 'true':
      case 'false':
        return { kind: 'literal', value: name === 'true', start, end }
    }
    if (isKeyword(name)) throw this.keywordFault(name, start)
    return { kind: 'name', name, start, end }
  }

  /** Parses the elements and the closing bracket. The opening bracket has been read. */
  list(bracket: ']' | ')', shortAllowed: boolean): Node[] {
    const elements: Node[] = []
    this.separated(bracket, () => {
      if (!this.startsExpression()) throw this.expected(`\`${bracket}\``, 'expression')
      elements.push(this.expression(shortAllowed))
    })
    return elements
  }

  /** Parses a list in parentheses. The last element may be a rest parameter. */
  #parenthesized(): ParenthesizedList {
    const start = this.at++
    const elements: Node[] = []
    let rest: ParenthesizedList['rest']
    this.skipSpace()
    while (!this.skips(')')) {
      if (this.skips('...')) {
        this.skipSpace()
        const restStart = this.at
        rest = { name: this.name(), start: restStart }
        this.skipSpace()
        this.requires(')')
        break
      }
      if (!this.startsExpression()) throw this.expected('`)`', '`...`', 'expression')
      elements.push(this.expression(true))
      this.skipSpace()
      if (this.skips(',')) this.skipSpace()
      else if (this.unit() !== char.close) throw this.expected('`)`', '`,`', '`...`')
    }
    return { start, end: this.at, elements, rest }
  }

  #tuple({ start, end, elements }: ParenthesizedList): Node {
    const [inner] = elements
    if (elements.length !== 1 || inner === undefined) return { kind: 'array', elements, start, end }
    return { kind: 'group', inner, start, end } satisfies GroupNode
  }

  #objectOrBlock(): Node {
    const start = this.at++
    this.skipSpace()
    if (this.skips('}')) return { kind: 'object', fields: [], start, end: this.at }
    if (this.startsKey()) return this.object(start)
    return this.#blockFrom(start)
  }
}
