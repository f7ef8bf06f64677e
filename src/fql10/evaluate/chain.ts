// Evaluates chains: each link (field, method, call, index or `!`) applies to the value of the previous link.

import { assert } from '../../base/assert.ts'
import { msg } from '../../base/message.ts'
import { wrongCount } from '../arity.ts'
import { type Absence, BoundCall, type Call, failureAt } from '../call.ts'
import { elementAt } from '../library/array-search.ts'
import { membersOfModule } from '../library/entry.ts'
import { check, invoke } from '../library/invoke.ts'
import { int, string } from '../library/parameters.ts'
import { characterAt } from '../library/string.ts'
import { memberOf } from '../library/tables.ts'
import type { ChainNode, Link, Node } from '../syntax/nodes.ts'
import { type Span, touches } from '../syntax/source.ts'
import {
  BoundFunction,
  Doc,
  type FunctionValue,
  isArray,
  isFunction,
  isNull,
  isStruct,
  Lambda,
  literalNull,
  Module,
  NullValue,
  type Scope,
  typeName,
  UserFunction,
  type Value,
} from '../value.ts'
import { causeText, nullCreationHint } from './operators.ts'

type FieldLink = Extract<Link, { kind: 'field' }>
type MethodLink = Extract<Link, { kind: 'method' }>
type BracketLink = Extract<Link, { kind: 'call' | 'access' }>

/** The state of a chain: the current value, and the part of the text that produced this value. */
interface Progress {
  value: Value
  /** Errors about a missing document underline the range from `start` to `end`. */
  start: number
  end: number
  /** Set by a `?.` on null or on a missing document: all links before the next `!` are skipped. */
  isSkipping: boolean
  /** The document whose field `data` is the current value. */
  dataOf?: Doc | undefined
}

/** Evaluates bodies of lambdas here and not in `follow`, so that nested calls use less stack. */
export function evaluateChain({ operand, links }: ChainNode, scope: Scope | undefined, call: Call): Value {
  const progress: Progress = {
    value: call.evaluation.evaluate(operand, scope, call),
    start: operand.start,
    end: operand.end,
    isSkipping: false,
  }
  for (const link of links) {
    const bound = follow(link, progress, scope, call)
    if (bound !== undefined) progress.value = call.evaluation.evaluate(bound.body, bound.scope, bound.within)
  }
  const { end, isSkipping, start, value } = progress
  // A skipped chain gives null, even if its value is a missing document.
  return isSkipping && value instanceof Doc ? new NullValue(literalNull, call.spanOf(start, end)) : value
}

/** If the result is a BoundCall, the caller must evaluate its body. If undefined, `progress` contains the value. */
function follow(link: Link, progress: Progress, scope: Scope | undefined, call: Call): BoundCall | undefined {
  const { value } = progress
  if (link.kind === 'assert') {
    const start = progress.isSkipping ? link.skippedStart : link.start
    progress.isSkipping = false
    progress.value = assertPresent(value, call.spanOf(start, link.end), call)
    moveRange(progress, link.start, link.end)
    return undefined
  }
  if (progress.isSkipping) return undefined
  if (link.optional && isMissing(value, link, call)) {
    progress.isSkipping = true
    return undefined
  }
  let bound: BoundCall | undefined
  switch (link.kind) {
    case 'field':
      progress.value = readField(progress, link, call)
      moveRange(progress, link.nameStart, link.end)
      break
    case 'method':
      bound = callMethod(progress, link, scope, call)
      moveRange(progress, link.argumentsStart, link.end)
      break
    case 'call':
      bound = callValue(progress, value, link.arguments, link, scope, call)
      moveRange(progress, link.start, link.end)
      break
    case 'access':
      progress.value = access(progress, link, scope, call)
      moveRange(progress, link.start, link.end)
      break
  }
  return bound
}

function moveRange(progress: Progress, start: number, end: number): void {
  progress.start = start
  progress.end = end
}

function isMissing(value: Value, link: Link, call: Call): boolean {
  if (isNull(value)) return true
  if (!(value instanceof Doc)) return false
  if ((link.kind === 'field' || link.kind === 'method') && needsOnlyReference(value, link.name)) return false
  return absenceOf(value, call) !== undefined
}

/** Members such as `id` do not need the stored document. */
function needsOnlyReference(doc: Doc, name: string): boolean {
  return name === 'exists' || memberOf(doc, name)?.kind === 'field'
}

function absenceOf(doc: Doc, call: Call): Absence | undefined {
  return call.evaluation.world.documents.absence(doc, call)
}

/** The name of a field or method, and its position in the text. */
interface NameRange {
  readonly name: string
  readonly start: number
  readonly end: number
}

/** The failure of a field, method or index access on null. */
function nullAccess(value: Value, { name, start, end }: NameRange, call: Call) {
  const message = msg`Cannot access \`${name}\` on null.`
  return call.failureWithin('invalid_null_access', message, start, end, nullCreationHint(value))
}

function missingField(value: Value, { name: field, start, end }: NameRange, call: Call): NullValue {
  return new NullValue({ type: 'missing field', field, holder: typeName(value) }, call.spanOf(start, end))
}

/**
 * The error `onField` of an {@link Absence} underlines the expression of the document. Without this error, throws the
 * same error as for null, which underlines the name.
 */
function requirePresent(doc: Doc, { start, end }: Progress, nameRange: NameRange, call: Call): void {
  const inner = call.within(call.spanOf(start, end))
  inner.requireEffect('read', 'Reading a field')
  const absence = absenceOf(doc, inner)
  if (absence === undefined) return
  const { onField } = absence
  if (onField === undefined) throw nullAccess(null, nameRange, call)
  throw failureAt(onField.code, onField.message, call.spanOf(start, end), call)
}

function readField(progress: Progress, link: FieldLink, call: Call): Value {
  const { dataOf, value } = progress
  const { name, nameStart, end } = link
  if (dataOf !== undefined) {
    call.evaluation.world.documents.hintUncovered(dataOf, name, call.within(call.spanOf(nameStart, end)))
  }
  progress.dataOf = name === 'data' && value instanceof Doc ? value : undefined
  const nameRange = { name, start: nameStart, end }
  const found = fieldOf(value, nameRange, progress, call)
  if (found !== undefined) return found
  if (isNull(value)) throw nullAccess(value, nameRange, call)
  return missingField(value, nameRange, call)
}

/** Binds a method to its receiver. Returns undefined if the value has no such field or method. */
function fieldOf(value: Value, nameRange: NameRange, progress: Progress, call: Call): Value | undefined {
  const { name } = nameRange
  if (isStruct(value)) return value.get(name)
  const member = memberOf(value, name)
  // The cast is safe, because the member comes from the table of the value's type.
  if (member?.kind === 'field') return member.read(value as never)
  if (!(value instanceof Doc)) return member && new BoundFunction(value, member)
  if (name === 'exists' && member !== undefined) return new BoundFunction(value, member)
  requirePresent(value, progress, nameRange, call)
  if (member !== undefined) return new BoundFunction(value, member)
  const inner = call.within(call.spanOf(nameRange.start, nameRange.end))
  return call.evaluation.world.documents.field(value, name, inner)
}

function callMethod(
  progress: Progress,
  link: MethodLink,
  scope: Scope | undefined,
  call: Call,
): BoundCall | undefined {
  const { value } = progress
  const { name, nameStart, nameEnd, argumentsStart, end } = link
  const nameRange = { name, start: nameStart, end: nameEnd }
  const member = memberOf(value, name)
  if (member?.kind === 'function') {
    if (value instanceof Doc && name !== 'exists') requirePresent(value, progress, nameRange, call)
    const args = evaluateAll(link.arguments, scope, call)
    progress.value = invoke(member, value, args, call.within(call.spanOf(argumentsStart, end)))
    return undefined
  }
  if (isNull(value)) throw nullAccess(value, nameRange, call)
  const found = fieldOf(value, nameRange, progress, call)
  if (link.optionalCall && (found === undefined || isNull(found))) {
    progress.value = found ?? missingField(value, nameRange, call)
    progress.isSkipping = true
    return undefined
  }
  if (found === undefined || !isCallable(found)) {
    const message =
      found === undefined
        ? msg`The function \`${name}\` does not exist on \`${typeName(value)}\``
        : msg`\`${name}\`: Expected a function, found \`${typeName(found)}\``
    throw call.failureWithin('invalid_function_invocation', message, nameStart, nameEnd)
  }
  return callValue(progress, found, link.arguments, { start: argumentsStart, end }, scope, call)
}

function isCallable(value: Value): boolean {
  return isFunction(value) || (value instanceof Module && membersOfModule(value).apply !== undefined)
}

function evaluateAll(nodes: readonly Node[], scope: Scope | undefined, call: Call): Value[] {
  const values: Value[] = []
  for (const node of nodes) values.push(call.evaluation.evaluate(node, scope, call))
  return values
}

/** If the result is a BoundCall, the caller must evaluate its body. If undefined, `progress` contains the value. */
function callValue(
  progress: Progress,
  callee: Value,
  args: readonly Node[],
  { start, end }: { readonly start: number; readonly end: number },
  scope: Scope | undefined,
  call: Call,
): BoundCall | undefined {
  if (!isCallable(callee)) throw notCallable(callee, start, end, call)
  const values = evaluateAll(args, scope, call)
  const inner = call.within(call.spanOf(start, end))
  if (callee instanceof Lambda || callee instanceof UserFunction) {
    const bound = call.evaluation.bind(callee, values, inner)
    if (bound instanceof BoundCall) return bound
    progress.value = bound
  } else if (callee instanceof Module) {
    const { apply } = membersOfModule(callee)
    assert(apply !== undefined, 'the module can be called')
    progress.value = invoke(apply, callee, values, inner)
  } else progress.value = call.evaluation.apply(callee as FunctionValue, values, inner)
  return undefined
}

function notCallable(callee: Value, start: number, end: number, call: Call) {
  if (callee instanceof NullValue && callee.cause.type === 'missing field') {
    const { field, holder } = callee.cause
    const message = msg`The function \`${field}\` does not exist on \`${holder}\``
    return failureAt('invalid_function_invocation', message, callee.span, call)
  }
  const message = msg`expected type: Function, received ${typeName(callee)}`
  return call.failureWithin('type_mismatch', message, start, end)
}

function access(progress: Progress, link: BracketLink, scope: Scope | undefined, call: Call): Value {
  const { value } = progress
  const { start, end } = link
  if (isNull(value)) throw nullAccess(value, { name: '[]', start, end }, call)
  const isList = typeof value === 'string' || isArray(value)
  if (!isList && !isStruct(value) && !(value instanceof Doc)) {
    const message = msg`The function \`[]\` does not exist on \`${typeName(value)}\``
    throw call.failureWithin('invalid_function_invocation', message, start, end)
  }
  const keys = evaluateAll(link.arguments, scope, call)
  const [key] = keys
  if (keys.length !== 1 || key === undefined) {
    const message = wrongCount({ counts: [1], open: false }, keys.length)
    throw call.failureWithin('invalid_function_invocation', message, start, end)
  }
  const inner = call.within(call.spanOf(start, end))
  // Messages name the argument like the first argument of a variadic function: the name of its parameter, and 0.
  if (isList) {
    const index = check('index0', int, key, inner)
    return typeof value === 'string' ? characterAt(value, index, inner) : elementAt(value, index, inner)
  }
  const nameRange = { name: check('key0', string, key, inner), start, end }
  const found = fieldOf(value, nameRange, progress, call)
  return found === undefined ? missingField(value, nameRange, call) : found
}

/** Implements `!`: throws if the value is null or a missing document. */
function assertPresent(value: Value, span: Span, call: Call): Value {
  if (value instanceof Doc) {
    const inner = call.within(span)
    inner.requireEffect('read', '`!`')
    const absence = absenceOf(value, inner)
    if (absence === undefined) return value
    throw failureAt(absence.onAssert.code, absence.onAssert.message, span, call)
  }
  if (!isNull(value)) return value
  const origin = value?.span
  // A hint that points at the assertion itself would not help.
  const hints = origin !== undefined && touches(origin, span) ? [] : nullCreationHint(value)
  const message = causeText(value?.cause ?? literalNull)
  throw failureAt('null_value', message, span, call, hints)
}
