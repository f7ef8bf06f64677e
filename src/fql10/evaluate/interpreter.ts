// Evaluates expressions. Evaluation is synchronous and deterministic, so that the engine can evaluate a query again. To
// wait for a result, evaluation throws `Pending`. The engine evaluates the query again when the result is available.

import { catchError } from '../../base/catch-error.ts'
import { longCall } from '../../base/effort.ts'
import { limits } from '../../base/limits.ts'
import { type Message, msg, own } from '../../base/message.ts'
import type { Session } from '../../model/session.ts'
import { microsOfTime } from '../../values/time.ts'
import { type Micros, Time, TransactionTime } from '../../values/value.ts'
import { BoundCall, Call, type Evaluation, type HintCode, type World } from '../call.ts'
import { withStep } from '../events/event-source.ts'
import { type Diagnostic, invalidQuery, QueryFailure } from '../failure/query-failure.ts'
import { definitionOf } from '../library/entry.ts'
import { arityOf, invoke, requireCount } from '../library/invoke.ts'
import { globals, memberOf } from '../library/tables.ts'
import { MapSet } from '../sets/functional.ts'
import { lazy, originOf } from '../sets/lazy-set.ts'
import {
  type AtNode,
  type BlockNode,
  type LambdaNode,
  type LetNode,
  type Node,
  type Program,
  type ProjectionNode,
  shortParameter,
  type TemplateNode,
} from '../syntax/nodes.ts'
import { projectionLambda } from '../syntax/slices.ts'
import type { Source, Span } from '../syntax/source.ts'
import { placeholderName } from '../syntax/template.ts'
import { displayText } from '../text-of-value.ts'
import {
  BoundFunction,
  Doc,
  EventSource,
  type FunctionValue,
  isArray,
  isStruct,
  Lambda,
  literalNull,
  NullValue,
  Scope,
  SetValue,
  type Struct,
  typeName,
  type UserFunction,
  type Value,
} from '../value.ts'
import { requireExtent, tooLong } from '../value-limits.ts'
import { evaluateChain } from './chain.ts'
import { evaluateBinary, evaluateUnary, requireBoolean } from './operators.ts'

const interpreterLimits = {
  /**
   * Maximum depth of nested expressions of version 10, including the bodies of called functions. Protects the native
   * stack; own limit.
   */
  v10EvaluationDepthMax: 16_000,
  /** Maximum number of performance hints in a response of version 10. Further hints are omitted; own limit. */
  v10HintsMax: 64,
} as const

/** The caller must check the number of arguments first. */
export function argumentScope(
  { parameters, rest }: LambdaNode,
  args: readonly Value[],
  outer: Scope | undefined,
): Scope | undefined {
  let scope = outer
  for (let index = 0; index < parameters.length; index++) {
    const name = parameters[index] as string
    if (name !== '_') scope = new Scope(name, args[index] as Value, scope)
  }
  if (rest === undefined || rest === '_') return scope
  return new Scope(rest, args.slice(parameters.length), scope)
}

type EvaluationSession = Pick<Session, 'compute' | 'newId'> & {
  readonly transaction: Pick<Session['transaction'], 'snapshotTime'>
}

/** Options that differ between the evaluations of a session. */
interface InterpreterOptions {
  /** Receives the lines of `log` and `dbg`. */
  readonly logLines?: Diagnostic[]
  /** Absent if the request does not ask for hints. */
  readonly hints?: Diagnostic[] | undefined
}

/** All evaluations of a session use the session's time and ids, and add to the session's costs. */
export class Interpreter implements Evaluation {
  readonly world: World
  readonly now: Micros
  readonly #session: EvaluationSession
  readonly #logLines: Diagnostic[]
  readonly #hints: Diagnostic[] | undefined
  #depth = 0

  constructor(session: EvaluationSession, world: World, { logLines = [], hints }: InterpreterOptions = {}) {
    this.#session = session
    this.#logLines = logLines
    this.#hints = hints
    this.world = world
    this.now = session.transaction.snapshotTime
  }

  newId(): bigint {
    return this.#session.newId()
  }

  compute(units: number): void {
    this.#session.compute(units)
  }

  /** Arguments and template values are the outermost variables of the query. */
  run({ source, body }: Program, args: Struct, placeholders: readonly Value[]): Value {
    let scope: Scope | undefined
    for (const [name, value] of args) scope = new Scope(name, value, scope)
    for (const [index, value] of placeholders.entries()) {
      scope = new Scope(placeholderName(index), value, scope)
    }
    return this.evaluate(body, scope, new Call(this, undefined, source, undefined))
  }

  addLogLine(diagnostic: Diagnostic): void {
    this.#logLines.push(diagnostic)
  }

  hint(code: HintCode, text: string, span: Span | undefined): void {
    const hints = this.#hints
    if (hints === undefined || hints.length >= interpreterLimits.v10HintsMax) return
    const message = msg`${code} - ${text} See https://docs.fauna.com/performance_hint/${code}.`
    const written = String(message)
    const isSame = (hint: Diagnostic) =>
      String(hint.message) === written &&
      hint.span?.source === span?.source &&
      hint.span?.start === span?.start &&
      hint.span?.end === span?.end
    if (!hints.some(isSame)) hints.push({ name: 'performance_hint', message, span })
  }

  global(name: string): Value | undefined {
    return globals.get(name) ?? this.world.names.global(name)
  }

  member(receiver: Value, name: string): Value | undefined {
    const entry = memberOf(receiver, name)
    if (entry === undefined) return undefined
    // The cast is safe, because the member comes from the table of the receiver's type.
    return entry.kind === 'field' ? entry.read(receiver as never) : new BoundFunction(receiver, entry)
  }

  evaluate(node: Node, scope: Scope | undefined, call: Call): Value {
    switch (node.kind) {
      case 'literal':
        return node.value ?? new NullValue(literalNull, call.spanOf(node.start, node.end))
      case 'placeholder':
        return this.#lookUp(placeholderName(node.index), scope, node, call)
      case 'name':
        return this.#lookUp(node.name, scope, node, call)
      case 'lambda':
        return new Lambda(node, call.source, scope)
    }
    if (++this.#depth > interpreterLimits.v10EvaluationDepthMax) throw stackOverflow(call)
    const value = this.#compound(node, scope, call)
    // Errors skip this line: they end the evaluation, or `catchFailure` restores the depth.
    this.#depth--
    return value
  }

  catchFailure<T>(work: () => T): T | QueryFailure {
    const depth = this.#depth
    return catchError(QueryFailure, work, failure => {
      this.#depth = depth
      return failure
    })
  }

  /**
   * For a group, an `if` or a block, the loop continues with the inner expression that gives the result. A recursive
   * call would use more stack.
   */
  #compound(start: Compound, outer: Scope | undefined, call: Call): Value {
    let node: Node = start
    let scope = outer
    for (;;) {
      switch (node.kind) {
        case 'group':
          node = node.inner
          break
        case 'if': {
          const { condition } = node
          if (requireBoolean(this.evaluate(condition, scope, call), condition, call)) node = node.then
          else if (node.otherwise !== undefined) node = node.otherwise
          else return new NullValue(literalNull, call.spanOf(node.start, node.end))
          break
        }
        case 'block':
          scope = this.#statements(node, scope, call)
          // The parser ensures that the last statement is an expression.
          node = node.statements.at(-1) as Node
          break
        case 'chain':
          return evaluateChain(node, scope, call)
        case 'binary':
          return evaluateBinary(node, scope, call)
        case 'literal':
        case 'placeholder':
        case 'name':
        case 'lambda':
          return this.evaluate(node, scope, call)
        default:
          return this.#other(node, scope, call)
      }
    }
  }

  /** Evaluates the kinds of expressions that are rarely nested. */
  #other(
    node: Exclude<Compound, { kind: 'group' | 'if' | 'block' | 'chain' | 'binary' }>,
    scope: Scope | undefined,
    call: Call,
  ): Value {
    switch (node.kind) {
      case 'unary':
        return evaluateUnary(node, scope, call)
      case 'object': {
        const fields = new Map<string, Value>()
        for (const [key, value] of node.fields) fields.set(key, this.evaluate(value, scope, call))
        return requireExtent(fields, call)
      }
      case 'array': {
        const elements: Value[] = []
        for (const element of node.elements) elements.push(this.evaluate(element, scope, call))
        return requireExtent(elements, call)
      }
      case 'template':
        return this.#template(node, scope, call)
      case 'projection':
        return this.#projection(node, scope, call)
      case 'at':
        return this.#at(node, scope, call)
      case 'match':
        throw unsupported(msg`match expr not supported`, node, call)
    }
  }

  #lookUp(name: string, scope: Scope | undefined, { start, end }: Node, call: Call): Value {
    for (let each = scope; each !== undefined; each = each.outer) if (each.name === name) return each.value
    const value = this.global(name)
    if (value !== undefined) return value
    throw call.failureWithin('unbound_variable', msg`Unbound variable \`${name}\``, start, end)
  }

  /** Returns the scope in which the last statement must be evaluated. */
  #statements({ statements }: BlockNode, outer: Scope | undefined, call: Call): Scope | undefined {
    let scope = outer
    for (let index = 0; index < statements.length - 1; index++) {
      const statement = statements[index] as LetNode | Node
      if (statement.kind === 'let') {
        scope = new Scope(statement.name, this.evaluate(statement.value, scope, call), scope)
      } else this.evaluate(statement, scope, call)
    }
    return scope
  }

  #template({ parts, start, end }: TemplateNode, scope: Scope | undefined, call: Call): Value {
    let text = ''
    for (const part of parts) {
      text += typeof part === 'string' ? part : displayText(this.evaluate(part, scope, call), call)
      const message = tooLong(text.length)
      if (message !== undefined) throw call.failureWithin('value_too_large', message, start, end)
    }
    longCall(text.length)
    return text
  }

  #at({ time, body }: AtNode, scope: Scope | undefined, call: Call): Value {
    const value = this.evaluate(time, scope, call)
    if (value instanceof TransactionTime) return this.evaluate(body, scope, call.asOf(undefined))
    if (!(value instanceof Time)) {
      const message = msg`expected type: Time, received ${typeName(value)}`
      throw call.failureWithin('type_mismatch', message, time.start, time.end)
    }
    const at = Number(microsOfTime(value))
    if (at > this.now) {
      const message = msg`invalid argument \`at_time\`: cannot evaluate \`at\` in the future`
      throw call.failureWithin('invalid_argument', message, time.start, time.end)
    }
    return this.evaluate(body, scope, call.asOf(at === this.now ? undefined : at))
  }

  #projection(node: ProjectionNode, scope: Scope | undefined, call: Call): Value {
    const value = this.evaluate(node.operand, scope, call)
    const { fields } = node
    if (fields === undefined) throw unsupported(msg`project expr not supported`, node, call)
    const inner = call.within(call.spanOf(node.start, node.end))
    const lambda = new Lambda(projectionLambda(node), call.source, scope)
    if (value instanceof SetValue) return new MapSet(lazy(value), lambda, originOf(inner))
    if (value instanceof EventSource) return withStep(value, set => new MapSet(set, lambda, originOf(inner)))
    const project = (each: Value): Struct => {
      this.compute(1)
      return this.evaluate(lambda.node.body, new Scope(shortParameter, each, scope), inner) as Struct
    }
    if (isStruct(value)) return requireExtent(project(value), inner)
    if (isArray(value)) return requireExtent(value.map(project), inner)
    if (value instanceof Doc) {
      inner.requireEffect('read', 'Projection')
      const absence = this.world.documents.absence(value, inner)
      if (absence === undefined) return requireExtent(project(value), inner)
      return inner.noElement(own(absence.cause))
    }
    return value
  }

  apply(callee: FunctionValue, args: readonly Value[], call: Call): Value {
    if (callee instanceof BoundFunction) {
      return invoke(definitionOf(callee), callee.receiver, args, call)
    }
    return this.enter(callee, args, call)
  }

  /** `call` represents the call of the lambda or user function, not the call that encloses it. */
  enter(callee: Lambda | UserFunction, args: readonly Value[], call: Call): Value {
    const bound = this.bind(callee, args, call)
    return bound instanceof BoundCall ? this.evaluate(bound.body, bound.scope, bound.within) : bound
  }

  bind(callee: Lambda | UserFunction, args: readonly Value[], call: Call): Value | BoundCall {
    if (!(callee instanceof Lambda)) {
      return this.world.callUser(callee, args, this.#deeper(callee, args, call, call.source))
    }
    const { node, source } = callee
    const within = this.#deeper(callee, args, call, source)
    return new BoundCall(node.body, argumentScope(node, args, callee.scope), within)
  }

  /** Returns the call with its depth. Throws if the number of arguments is wrong or the depth is too large. */
  #deeper(callee: Lambda | UserFunction, args: readonly Value[], call: Call, source: Source): Call {
    requireCount(arityOf(callee), args.length, call)
    this.compute(1)
    const depth = call.depth + 1
    // The limit counts only the calls within the outermost call.
    if (depth > limits.v10CallDepthMax + 1) throw stackOverflow(call)
    return call.as({ depth, source })
  }
}

type Compound = Exclude<Node, { kind: 'literal' | 'placeholder' | 'name' | 'lambda' }>

function stackOverflow(call: Call) {
  const message = msg`number of stack frames exceeded limit of ${limits.v10CallDepthMax}`
  return call.failure('stack_overflow', message)
}

function unsupported(message: Message, { start, end }: Node, call: Call) {
  return invalidQuery([{ name: 'error', message, span: call.spanOf(start, end) }])
}
