// Parses the links of a chain after its operand: fields, calls, index accesses and assertions.

import { type Link, type Node, shortParameter } from './nodes.ts'
import { char, SourceReader } from './reader.ts'

const writingMethods: ReadonlySet<string> = new Set(
  'create createData update updateData replace replaceData delete login logout'.split(' '),
)

/** A subclass (parser.ts) parses the expressions in the brackets of calls and accesses. */
export abstract class ChainReader extends SourceReader {
  /** True if the text calls a method that may write. */
  mayWrite = false
  /** The names that the text calls, or uses as values, such as variables and user functions. */
  readonly #valueNames = new Set<string>()
  readonly variables = new Set<string>()

  get mayCallFunctions(): boolean {
    return !this.#valueNames.isSubsetOf(this.variables)
  }

  /** If `shortAllowed` is true, an element may be a short lambda, such as `.name`. */
  abstract list(bracket: ']' | ')', shortAllowed: boolean): Node[]

  /** The text of the operand ends at `end`. */
  chain(operand: Node, end: number): Node {
    const links: Link[] = []
    let last = end
    let before: BeforeAssertion = { start: operand.start, skippedStart: operand.start }
    for (;;) {
      this.skipBlanks()
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
    if (unit === char.exclamation) {
      const next = text.charCodeAt(start + 1)
      if (next === char.equals || next === char.tilde) return undefined
      this.at++
      return { kind: 'assert', ...before, end: this.at }
    }
    if (unit === char.open || unit === char.openBracket) return this.#callOrAccess(false)
    this.skipSpace()
    if (this.follows('?.')) return this.#optionalLink()
    if (this.unit() !== char.dot || text.charCodeAt(this.at + 1) === char.dot) {
      this.at = start
      return undefined
    }
    const dot = this.at++
    if (operand?.kind === 'name' && operand.name === shortParameter) {
      const next = this.unit()
      if (next === char.open || next === char.openBracket) return this.#callOrAccess(false)
    }
    const isInteger = operand?.kind === 'literal' && typeof operand.value === 'bigint' && dot === operand.end
    this.skipSpace()
    if (!this.startsName) throw isInteger ? this.expected('digit', 'identifier') : this.expected('identifier')
    return this.#field(dot, false)
  }

  #optionalLink(): Link {
    const start = this.at
    this.at += 2
    this.skipSpace()
    if (this.unit() === char.open || this.unit() === char.openBracket) return this.#callOrAccess(true)
    if (!this.startsName) throw this.expected('`(`', '`[`', 'identifier')
    return this.#field(start, true)
  }

  #field(start: number, optional: boolean): Link {
    const nameStart = this.at
    const name = this.anyName()
    const nameEnd = this.at
    this.skipBlanks()
    const optionalCall = this.follows('?.(')
    if (optionalCall) this.at += 2
    if (this.unit() !== char.open) {
      this.at = nameEnd
      return { kind: 'field', start, end: nameEnd, name, nameStart, optional }
    }
    const argumentsStart = this.at++
    if (writingMethods.has(name)) this.mayWrite = true
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
    const isCall = this.unit() === char.open
    this.at++
    const args = this.list(isCall ? ')' : ']', true)
    return { kind: isCall ? 'call' : 'access', start, end: this.at, arguments: args, optional }
  }
}

type BeforeAssertion = Pick<Extract<Link, { kind: 'assert' }>, 'start' | 'skippedStart'>

/** Errors about a failed assertion `!` after `link` underline the text from `start` or `skippedStart` (nodes.ts). */
function beforeAssertion(link: Link): BeforeAssertion {
  const { start } = link
  if (link.kind !== 'field' && link.kind !== 'method') return { start, skippedStart: start }
  // For `?.`, the range starts at the dot.
  const skippedStart = link.optional ? start + 1 : start
  return { start: link.kind === 'field' ? link.nameStart : link.argumentsStart, skippedStart }
}
