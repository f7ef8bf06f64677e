// How a query function is declared. An entry says everything about a function once: its wire keys with their
// types, its effect, its documentation and what it does. Parser, evaluator, metrics and the generated reference
// all read the same entry.

import type { Effect } from '../model/effect.ts'
import type { Session } from '../model/session.ts'
import { UnresolvedRef, type Value } from '../values/value.ts'
import { apiVersionOf } from './dialect.ts'
import { type Position, QueryError, type QueryErrorCode } from './errors.ts'
import type { CallExpression, CalledFunction } from './expression.ts'
import { typeName } from './values/tagged.ts'
import type { Variables } from './variables.ts'
import { type ApiVersion, isAtLeast } from './wire/version.ts'

/** A running call: what a function needs beside its arguments. */
export class Call {
  readonly session: Session
  readonly expression: CallExpression
  readonly variables: Variables | undefined

  constructor(session: Session, expression: CallExpression, variables: Variables | undefined) {
    this.session = session
    this.expression = expression
    this.variables = variables
  }

  /** The position of the call itself, or of something below it. */
  position(...further: (string | number)[]): Position {
    return this.expression.place.position(...further)
  }

  /** An error at the call itself, or below it. */
  error(code: QueryErrorCode, description: string, ...further: (string | number)[]): QueryError {
    return QueryError.of(code, description, this.position(...further))
  }

  /** `invalid argument` at the call itself, or below it. */
  invalid(description: string, ...further: (string | number)[]): QueryError {
    return this.error('invalid argument', description, ...further)
  }
}

/** The definition of a call's function. */
export function definitionOf({ definition }: CallExpression): FunctionDefinition {
  // The parser makes calls of definitions only.
  return definition as FunctionDefinition
}

/** How an argument is handed over: evaluated and checked, or left to the function. */
type ArgumentMode = 'value' | 'lazy' | 'lazy list' | 'lazy sequence' | 'lambda' | 'lambda or value'

/** The type of one argument: how it is passed and checked. `T` is what the function receives. */
export interface ArgumentType<T> {
  readonly mode: ArgumentMode
  /** The name shown in the reference, such as `Integer`. */
  readonly name: string
  /**
   * Checks a value; throws an error at the argument's own position when it does not fit. For `lazy` modes the
   * value is not known yet and `check` is never called.
   */
  readonly check: (value: Value, call: Call, key: string) => T
}

/** The type of an argument, and whether it may be left out. */
export interface Argument<T> {
  readonly type: ArgumentType<T>
  readonly optional: boolean
}

/** An argument that must be given. */
export function required<T>(type: ArgumentType<T>): Argument<T> {
  return { type, optional: false }
}

/** An argument that may be left out: the function then receives undefined. Given as null it counts as given. */
export function optional<T>(type: ArgumentType<T>): Argument<T | undefined> {
  return { type, optional: true }
}

/** An expression that is evaluated when, and as often as, the function asks. */
export interface Lazy {
  evaluate(): Value
}

export interface FunctionDefinition extends CalledFunction {
  readonly family: string
  /** What a call may do; contexts that forbid it refuse the call. */
  readonly effect: Effect
  /** What a lambda that contains a call is taken to do; differs for `call`, which may reach anything. */
  readonly staticEffect: Effect
  /** Evaluated units it counts for; 0 for control forms. */
  readonly compute: number
  /** The first API version that has it. */
  readonly since: ApiVersion
  /** The first API version that has another function in its place. */
  readonly until: ApiVersion | undefined
  /** Another function to prefer, when this one is kept only for older drivers. */
  readonly deprecatedFor: string | undefined
  /** By wire key, in the order in which they are evaluated and reported. */
  readonly arguments: Readonly<Record<string, Argument<unknown>>>
  /** The types of the arguments in that order. */
  readonly types: readonly ArgumentType<unknown>[]
  readonly result: string
  /** One sentence for the reference. */
  readonly summary: string
  /** A query as wire JSON and the JSON it returns (with `…` where that varies), for the reference and its test. */
  readonly example: readonly [query: string, result: string]
  readonly evaluate: (args: Readonly<Record<string, unknown>>, call: Call) => Value
}

type ArgumentsOf<A extends Readonly<Record<string, Argument<unknown>>>> = {
  readonly [K in keyof A]: A[K] extends Argument<infer T> ? T : never
}

/** What a family file writes for each function. */
interface FunctionDeclaration<A extends Readonly<Record<string, Argument<unknown>>>> {
  readonly name: string
  readonly effect: Effect
  readonly staticEffect?: Effect
  readonly compute?: number
  readonly since?: ApiVersion
  readonly until?: ApiVersion
  readonly deprecatedFor?: string
  readonly arguments: A
  readonly result: string
  readonly summary: string
  readonly example: readonly [query: string, result: string]
  readonly evaluate: (args: ArgumentsOf<A>, call: Call) => Value
}

/** The declarations of one family, under the name its chapter of the reference has. */
export interface FunctionFamily {
  readonly name: string
  readonly definitions: readonly FunctionDefinition[]
}

/** Completes a declaration; families collect the results with {@link family}. */
export function define<A extends Readonly<Record<string, Argument<unknown>>>>(
  declaration: FunctionDeclaration<A>,
): Omit<FunctionDefinition, 'family'> {
  return {
    staticEffect: declaration.effect,
    compute: 1,
    since: '2.0',
    until: undefined,
    deprecatedFor: undefined,
    ...declaration,
    keys: Object.keys(declaration.arguments),
    types: Object.values(declaration.arguments).map(({ type }) => type),
    evaluate: declaration.evaluate as FunctionDefinition['evaluate'],
  }
}

/** A family of functions: one file, one chapter of the reference. */
export function family(
  name: string,
  definitions: readonly Omit<FunctionDefinition, 'family'>[],
): FunctionFamily {
  return { name, definitions: definitions.map(definition => ({ ...definition, family: name })) }
}

/** The error for a value of the wrong type: `X expected, Y provided.`, or `invalid ref` for an unresolved reference. */
export function mismatch(
  expected: string,
  value: Value,
  call: Call,
  ...steps: (string | number)[]
): QueryError {
  return call.invalid(`${expected} expected, ${typeName(value)} provided.`, ...steps)
}

/** The error for using a reference that names nothing. */
export function undefinedReference(value: UnresolvedRef, call: Call, ...at: (string | number)[]): QueryError {
  const text = undefinedReferenceText(value)
  // Versions before 2.7 say class for collection.
  const older = !isAtLeast(apiVersionOf(call.session), '2.7')
  const description = older ? text.replace('undefined collection', 'undefined class') : text
  return call.error('invalid ref', description, ...at)
}

/** The sentence that names what an unresolved reference failed to find. */
export function undefinedReferenceText(value: UnresolvedRef): string {
  const { target } = value
  switch (target.type) {
    case 'document':
      return undefinedReferenceText(target.collection)
    case 'native':
      return undefinedReferenceText(target.scope)
    case 'key':
      return target.scope instanceof UnresolvedRef
        ? undefinedReferenceText(target.scope)
        : `Ref refers to undefined key '${target.id}'`
    default:
      return `Ref refers to undefined ${target.type} '${target.name}'`
  }
}
