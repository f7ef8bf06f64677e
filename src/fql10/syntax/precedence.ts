// Parses binary operators, and builds a tree from a sequence of operands without recursion.

import { type BinaryNode, type GroupNode, isShortLambda, type Node } from './nodes.ts'
import { char, continuesName, type SourceReader } from './reader.ts'

/** A higher level binds tighter. All operators but `**` are left-associative. */
const levels: Readonly<Record<string, number>> = {
  '??': 0,
  '||': 1,
  '&&': 2,
  '==': 3,
  '!=': 3,
  '=~': 3,
  '!~': 3,
  '>': 4,
  '<': 4,
  '>=': 4,
  '<=': 4,
  isa: 5,
  '|': 6,
  '^': 7,
  '&': 8,
  '+': 9,
  '-': 9,
  '*': 10,
  '/': 10,
  '%': 10,
  '**': 11,
}

/** Operators that may begin a line. */
const ofNextLine: ReadonlySet<string> = new Set(['??', '||', '&&', '|', '^', '&'])

export interface Operator {
  readonly text: string
  readonly start: number
}

/**
 * Reads a binary operator. Only the operators in {@link ofNextLine} may be on the next line. Returns undefined if no
 * operator follows.
 */
export function readOperator(reader: SourceReader): Operator | undefined {
  const before = reader.at
  let text = reader.placeholders.has(before) ? '' : operatorAt(reader)
  if (text === '') {
    const unit = reader.unit()
    if (unit !== char.newline && unit !== char.return && unit !== char.slash) return undefined
    reader.skipSpace()
    text = operatorAt(reader)
    if (!ofNextLine.has(text)) text = ''
  }
  if (text === '') {
    reader.at = before
    return undefined
  }
  const start = reader.at
  reader.at += text.length
  return { text, start }
}

/** A key of {@link levels}, or an empty text. */
function operatorAt({ text, at }: SourceReader): string {
  const next = text.charCodeAt(at + 1)
  switch (text.charCodeAt(at)) {
    case char.plus:
      return '+'
    case char.minus:
      return '-'
    case char.percent:
      return '%'
    case char.caret:
      return '^'
    case char.star:
      return next === char.star ? '**' : '*'
    case char.bar:
      return next === char.bar ? '||' : '|'
    case char.ampersand:
      return next === char.ampersand ? '&&' : '&'
    case char.slash:
      return next === char.slash || next === char.star ? '' : '/'
    case char.question:
      return next === char.question ? '??' : ''
    case char.less:
      return next === char.equals ? '<=' : '<'
    case char.greater:
      return next === char.equals ? '>=' : '>'
    case char.equals:
      return next === char.equals ? '==' : next === char.tilde ? '=~' : ''
    case char.exclamation:
      return next === char.equals ? '!=' : next === char.tilde ? '!~' : ''
    case char.lowerI:
      return text.startsWith('isa', at) && !continuesName(text.charCodeAt(at + 3)) ? 'isa' : ''
  }
  return ''
}

/** Builds the tree of an operator expression. `operands` has one more element than `operators`. */
export function treeOf(operands: readonly Node[], operators: readonly Operator[]): Node {
  const done: Node[] = [operands[0] as Node]
  const open: Operator[] = []
  const close = () => {
    const right = done.pop() as Node
    const left = done.pop() as Node
    const { text, start } = open.pop() as Operator
    done.push(binary(text, start, left, right))
  }
  for (let index = 0; index < operators.length; index++) {
    const operator = operators[index] as Operator
    const level = levels[operator.text] as number
    while (open.length > 0) {
      const above = levels[(open.at(-1) as Operator).text] as number
      if (above > level || (above === level && operator.text !== '**')) close()
      else break
    }
    open.push(operator)
    done.push(operands[index + 1] as Node)
  }
  while (open.length > 0) close()
  return done[0] as Node
}

function binary(operator: string, operatorStart: number, left: Node, right: Node): BinaryNode {
  return { kind: 'binary', operator, operatorStart, left, right, start: left.start, end: right.end }
}

/**
 * For a short lambda in parentheses, such as `(.a)` in `(.a) + 1`, returns the lambda's body, still in parentheses.
 * Returns undefined for other operands.
 */
export function bodyOfShortLambda(operand: Node): GroupNode | undefined {
  if (operand.kind !== 'group' || !isShortLambda(operand.inner)) return undefined
  return { ...operand, inner: operand.inner.body }
}
