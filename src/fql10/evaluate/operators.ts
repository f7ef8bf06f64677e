// Evaluates operators. The type of the left operand determines whether the operator exists; the right operand is
// evaluated after this check.

import { type Message, msg } from '../../base/message.ts'
import { native } from '../../values/value.ts'
import type { Call } from '../call.ts'
import { compare, equals } from '../comparison.ts'
import type { Remark } from '../failure/query-failure.ts'
import { arithmetic, complement, dividesByZero, negative } from '../numbers.ts'
import type { BinaryNode, Node, UnaryNode } from '../syntax/nodes.ts'
import { displayText } from '../text-of-value.ts'
import {
  Doc,
  EventSource,
  isArray,
  isFunction,
  isNull,
  isNumber,
  isStruct,
  Module,
  type NullCause,
  NullValue,
  type Scope,
  SetValue,
  typeName,
  UserCollection,
  type Value,
} from '../value.ts'
import { countText } from '../value-limits.ts'

/** A hint for errors about null. The result is empty if `value` is not null. */
export function nullCreationHint(value: Value): Remark[] {
  if (value === null) return [{ name: 'hint', message: 'Null value created here', span: undefined }]
  if (!(value instanceof NullValue)) return []
  return [{ name: 'hint', message: 'Null value created here', span: value.span }]
}

/** The reason why a value is null, as text for the error of the operator `!`. */
export function causeText(cause: NullCause): Message {
  switch (cause.type) {
    case 'literal':
      return msg`Null literal value`
    case 'missing field':
      return msg`Null value, due to missing field \`${cause.field}\``
    case 'no element':
      return msg`Null value, due to ${cause.reason}`
  }
}

const ordering: ReadonlySet<string> = new Set(['<', '<=', '>', '>='])

/** Evaluates left-associative sequences of operators in a loop, which uses less stack than recursion. */
export function evaluateBinary(node: BinaryNode, scope: Scope | undefined, call: Call): Value {
  const sequence = [node]
  let first: Node = node.left
  while (first.kind === 'binary') {
    sequence.push(first)
    first = first.left
  }
  let value = call.evaluation.evaluate(first, scope, call)
  for (let index = sequence.length - 1; index >= 0; index--) {
    const each = sequence[index] as BinaryNode
    if (!isDecided(each, value, call)) {
      value = applyOperator(each, value, call.evaluation.evaluate(each.right, scope, call), call)
    }
  }
  return value
}

/** True if the left operand is already the result. Throws if the type of the left operand lacks the operator. */
function isDecided(node: BinaryNode, left: Value, call: Call): boolean {
  switch (node.operator) {
    case '&&':
    case '||':
      return requireBoolean(left, node.left, call) === (node.operator === '||')
    case '??':
      return !isNull(left) && !isAbsent(left, node, call)
    case 'isa':
      return false
    case '==':
    case '!=':
      break
    default:
      if (!hasOperator(left, node.operator)) throw missingOperator(node, left, call)
  }
  // The cases that return above cost nothing.
  call.evaluation.compute(1)
  return false
}

function applyOperator(node: BinaryNode, left: Value, right: Value, call: Call): Value {
  const { operator } = node
  switch (operator) {
    case '&&':
    case '||':
      return requireBoolean(right, node.right, call)
    case '??':
      return right
    case 'isa':
      return isa(left, right, node.right, call)
    case '==':
    case '!=':
      return equalsOrAbsent(left, right, node, call) === (operator === '==')
  }
  if (ordering.has(operator)) return compareBy(operator, left, right)
  return typeof left === 'string' ? concatenate(left, right, node, call) : calculate(node, left, right, call)
}

function hasOperator(left: Value, operator: string): boolean {
  if (ordering.has(operator)) return true
  if (operator === '=~' || operator === '!~') return false
  return isNumber(left) || (typeof left === 'string' && operator === '+')
}

function missingOperator(node: BinaryNode, left: Value, call: Call) {
  const { operator, operatorStart } = node
  const message = msg`The function \`${operator}\` does not exist on \`${typeName(left)}\``
  const end = operatorStart + operator.length
  const hints = nullCreationHint(left)
  return call.failureWithin('invalid_function_invocation', message, operatorStart, end, hints)
}

/** Returns `value` if the value is a Boolean. For any other value, throws an error that underlines the operand. */
export function requireBoolean(value: Value, { start, end }: Node, call: Call): boolean {
  if (typeof value === 'boolean') return value
  const message = msg`expected type: Boolean, received ${typeName(value)}`
  throw call.failureWithin('type_mismatch', message, start, end)
}

/** The trace of an error shows the right operand for this call. */
function operatorCall({ right }: BinaryNode, call: Call): Call {
  return call.within(call.spanOf(right.start, right.end))
}

function isAbsent(value: Value, node: BinaryNode, call: Call): boolean {
  if (!(value instanceof Doc)) return false
  const inner = operatorCall(node, call)
  inner.requireEffect('read', `\`${node.operator}\``)
  return call.evaluation.world.documents.absence(value, inner) !== undefined
}

function equalsOrAbsent(left: Value, right: Value, node: BinaryNode, call: Call): boolean {
  if (left instanceof Doc && isNull(right)) return isAbsent(left, node, call)
  if (right instanceof Doc && isNull(left)) return isAbsent(right, node, call)
  return equals(left, right)
}

function compareBy(operator: string, left: Value, right: Value): boolean {
  const order = compare(left, right)
  if (order === undefined) return false
  switch (operator) {
    case '<':
      return order < 0
    case '<=':
      return order <= 0
    case '>':
      return order > 0
    default:
      return order >= 0
  }
}

function concatenate(left: string, right: Value, node: BinaryNode, call: Call): string {
  const inner = operatorCall(node, call)
  const text = left + displayText(right, inner)
  countText(text.length, inner)
  return text
}

function calculate(node: BinaryNode, left: Value, right: Value, call: Call): Value {
  const { operator } = node
  if (!isNumber(left) || !isNumber(right)) {
    const received = typeName(right)
    const parameter = operator === '**' ? 'exponent' : 'other'
    // The message for `-` differs, because `-` also has a signature without a right operand: the unary minus.
    const message =
      operator === '-'
        ? msg`expected arguments to \`-\` of type (Number), received (${received})`
        : msg`expected value for \`${parameter}\` of type Number, received ${received}`
    throw operatorCall(node, call).failure('invalid_argument', message)
  }
  if ((operator === '/' || operator === '%') && dividesByZero(left, right)) {
    throw operatorCall(node, call).failure('divide_by_zero', msg`Attempted integer division by zero.`)
  }
  return arithmetic(operator, left, right)
}

function isa(value: Value, type: Value, { start, end }: Node, call: Call): boolean {
  if (type instanceof Module) return isMember(value, type)
  const message = msg`invalid argument \`type_object\`: expected a module object`
  throw call.failureWithin('invalid_argument', message, start, end)
}

export function evaluateUnary(node: UnaryNode, scope: Scope | undefined, call: Call): Value {
  const { operator, operand, start } = node
  const value = call.evaluation.evaluate(operand, scope, call)
  call.evaluation.compute(1)
  if (operator === '!' && typeof value === 'boolean') return !value
  if (operator !== '!' && isNumber(value)) return operator === '-' ? negative(value) : complement(value)
  const message = msg`The function \`${operator}\` does not exist on \`${typeName(value)}\``
  throw call.failureWithin('invalid_function_invocation', message, start, start + 1, nullCreationHint(value))
}

const isDouble = (value: Value) => typeof value === 'number'

const hasTypeName = (name: string) => (value: Value) => !(value instanceof Module) && typeName(value) === name

const namedTypes = 'Boolean Bytes Date Doc ID Int Long Null SetCursor String Time TransactionTime UUID'

/** Tests whether a value has the type, for each module that is a type. */
const types: Readonly<Record<string, (value: Value) => boolean>> = {
  ...Object.fromEntries(namedTypes.split(' ').map(name => [name, hasTypeName(name)])),
  Double: isDouble,
  Float: isDouble,
  Number: isNumber,
  Array: isArray,
  Set: value => value instanceof SetValue,
  EventSource: value => value instanceof EventSource,
  Struct: isStruct,
  Object: value => isStruct(value) || value instanceof Doc || value instanceof Module,
  Function: value => isFunction(value) || (value instanceof Doc && value.ref.collection === native.functions),
}

/** A type contains its values, a collection its documents, and any other module only itself. */
function isMember(value: Value, module: Module): boolean {
  const test = module.parent === undefined && !module.isUserCollection ? types[module.name] : undefined
  if (test !== undefined) return test(value)
  if (value instanceof Doc) {
    // Collections are compared by number instead of name, because a collection can have an alias, and a user collection
    // may have the name of a built-in module.
    if (module instanceof UserCollection) return BigInt(value.ref.collection) === module.ref.id
    return !value.collection.isUserCollection && value.collection.name === module.name
  }
  if (module instanceof UserCollection) return false
  return value instanceof Module && value.name === module.name && value.parent === module.parent
}
