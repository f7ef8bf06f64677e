// Functions that read single nodes of a syntax tree, and error messages for unsupported nodes.

import type { Expression, Node, Property, Super } from 'acorn'
import { int64Max, int64Min } from '../../values/value.ts'
import type { Parameter } from './text-functions.ts'

/** A decimal point or an exponent makes a double. For an invalid number, returns the error message. */
export function readNumber(literal: string, isNegative: boolean): bigint | number | string {
  const raw = literal.replaceAll('_', '').toLowerCase()
  const hasRadix = /^0[xob]/.test(raw)
  if (!hasRadix && /[.e]/.test(raw)) {
    const double = Number(raw)
    if (!Number.isFinite(double)) return 'the number is too large'
    return isNegative ? -double : double
  }
  if (!hasRadix && /^0\d/.test(raw)) return 'a number cannot begin with 0'
  const magnitude = BigInt(raw.endsWith('n') ? raw.slice(0, -1) : raw)
  const integer = isNegative ? -magnitude : magnitude
  return integer < int64Min || integer > int64Max ? 'the integer has more than 64 bits' : integer
}

/** Returns undefined if the field does not have the form `name: value`. */
export function keyOf({ key, computed, kind, method }: Property): string | undefined {
  if (computed || kind !== 'init' || method) return undefined
  if (key.type === 'Identifier') return key.name
  if (key.type !== 'Literal') return undefined
  if (typeof key.value === 'string') return key.value
  return typeof key.value === 'number' ? key.raw : undefined
}

/** Returns the text of `a` or `a.b`, and an empty text for all other nodes. */
export function dottedName(node: Expression | Super): string {
  if (node.type === 'Identifier') return node.name
  if (node.type !== 'MemberExpression' || node.computed || node.property.type !== 'Identifier') return ''
  return `${dottedName(node.object)}.${node.property.name}`
}

export function arityOf(parameters: readonly Parameter[]): readonly [min: number, max: number] {
  const taken = parameters.filter(({ kind }) => kind !== 'always null')
  const isOpen = taken.some(({ kind }) => kind === 'rest' || kind === 'rest as array')
  // A function with only a rest parameter needs at least one argument.
  const isRestOnly = isOpen && taken.length === 1
  const min = isRestOnly ? 1 : taken.filter(({ kind }) => kind === 'required').length
  return [min, isOpen ? Number.POSITIVE_INFINITY : taken.length]
}

const operators: Readonly<Record<string, string>> = {
  '+': 'Add(a, b), or Concat([a, b]) for strings',
  '-': 'Subtract(a, b)',
  '*': 'Multiply(a, b)',
  '/': 'Divide(a, b)',
  '%': 'Modulo(a, b)',
  '**': 'Pow(a, b)',
  '==': 'Equals(a, b)',
  '===': 'Equals(a, b)',
  '!=': 'Not(Equals(a, b))',
  '!==': 'Not(Equals(a, b))',
  '<': 'LT(a, b)',
  '<=': 'LTE(a, b)',
  '>': 'GT(a, b)',
  '>=': 'GTE(a, b)',
  '&&': 'And(a, b)',
  '||': 'Or(a, b)',
  '!': 'Not(a)',
  '&': 'BitAnd(a, b)',
  '|': 'BitOr(a, b)',
  '^': 'BitXor(a, b)',
  '~': 'BitNot(a)',
}

const kinds: Readonly<Record<string, string>> = {
  AssignmentExpression: 'there is no assignment: write Let({name: value}, expr)',
  AwaitExpression: 'there is nothing to wait for: leave out await',
  ConditionalExpression: 'there is no ?: operator: write If(condition, a, b)',
  FunctionExpression: 'a function is written (a, b) => expr, or Lambda(["a", "b"], expr)',
  MemberExpression:
    'there are no fields by dot or bracket: write Select("name", value), and ; between expressions',
  NewExpression: 'there is no new',
  SequenceExpression: 'there is no comma operator: write Do(a, b), or ; between expressions',
  SpreadElement: 'there is no ... operator',
  TaggedTemplateExpression: 'there are no tagged templates',
}

/** Returns the error message for an unsupported node; most messages show what to write instead. */
export function unsupportedNodeText(node: Node): string {
  // Nodes such as unary, binary and logical expressions have an operator. For assignments, `kinds` has a message.
  const { operator } = node as Node & { readonly operator?: string }
  if (operator !== undefined && node.type !== 'AssignmentExpression') {
    const instead = Object.hasOwn(operators, operator) ? operators[operator] : undefined
    return `there is no operator ${operator}${instead === undefined ? '' : `: write ${instead}`}`
  }
  return (
    (Object.hasOwn(kinds, node.type) && kinds[node.type]) || `this is not part of the language (${node.type})`
  )
}
