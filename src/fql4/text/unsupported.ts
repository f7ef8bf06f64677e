// Messages for unsupported JavaScript syntax, with the alternative in the language.

import type { Node } from 'acorn'

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

/** The message for an unsupported node of a syntax tree. */
export function nameInstead(node: Node): string {
  // Only nodes of unary, binary and logical expressions have an operator.
  const { operator } = node as Node & { readonly operator?: string }
  if (operator !== undefined && node.type !== 'AssignmentExpression') {
    const instead = Object.hasOwn(operators, operator) ? operators[operator] : undefined
    return `there is no operator ${operator}${instead === undefined ? '' : `: write ${instead}`}`
  }
  return (
    (Object.hasOwn(kinds, node.type) && kinds[node.type]) || `this is not part of the language (${node.type})`
  )
}
