// The declarations of query functions. A declaration contains the wire keys (the keys of a call in JSON) with their
// types, the effect, the documentation and the implementation. The parser, the evaluator, the metrics and the generator
// of docs/reference/functions.md use these declarations.

import { type Message, msg, own } from '../base/message.ts'
import type { Effect } from '../model/code-interface.ts'
import type { Session } from '../model/session.ts'
import { UnresolvedRef, type Value } from '../values/value.ts'
import type { CallExpression, FunctionHeader } from './expression.ts'
import { type Position, QueryError, type QueryErrorCode } from './query-errors.ts'
import { typeName } from './values/tagged.ts'
import type { Variables } from './variables.ts'
import { type ApiVersion, isApiVersion, isAtLeast } from './wire/version.ts'

/** Functions receive the call in addition to their arguments. */
export class Call {
  readonly session: Session
  readonly expression: CallExpression
  readonly variables: Variables | undefined

  constructor(session: Session, expression: CallExpression, variables: Variables | undefined) {
    this.session = session
    this.expression = expression
    this.variables = variables
  }

  /** Returns the position of the call, followed by the steps `further`. */
  position(...further: (string | number)[]): Position {
    return this.expression.place.position(...further)
  }

  /** Creates an error at the position of the call, followed by the steps `further`. */
  error(code: QueryErrorCode, description: Message, ...further: (string | number)[]): QueryError {
    return QueryError.of(code, description, this.position(...further))
  }

  invalid(description: Message, ...further: (string | number)[]): QueryError {
    return this.error('invalid argument', description, ...further)
  }
}

export function definitionOf({ definition }: CallExpression): FunctionDefinition {
  // The parser sets a complete definition in every call.
  return definition as FunctionDefinition
}

type ArgumentMode = 'value' | 'lazy' | 'lazy list' | 'lazy sequence' | 'lambda' | 'lambda or value'

/** The type of an argument: how the argument is passed and checked. The function receives a value of type `T`. */
export interface ArgumentType<T> {
  readonly mode: ArgumentMode
  /** The name of the type in docs/reference/functions.md, such as `Integer`. */
  readonly name: string
  /** Throws at the argument's position. Never called in the modes `lambda` and `lazy …`, which pass no values. */
  readonly check: (value: Value, call: Call, key: string) => T
  /** For an omitted argument, the function receives undefined. An explicit null is a value. */
  readonly optional?: true
}

export function optional<T>(type: ArgumentType<T>): ArgumentType<T | undefined> {
  return { ...type, optional: true }
}

type ArgumentTypes = Readonly<Record<string, ArgumentType<unknown>>>

/** An expression that is evaluated each time the function requests its value. */
export interface Lazy {
  evaluate(): Value
}

export interface FunctionDefinition extends FunctionHeader {
  readonly family: string
  /** The effect of a call. If the effect is not allowed, such as a write in a predicate, the call fails. */
  readonly effect: Effect
  /**
   * The effect that the parser assumes for a query or lambda that calls this function. It differs from `effect` only
   * for the function `call`, because the called user function may have any effect.
   */
  readonly staticEffect: Effect
  /** Number of compute units per call; 0 for functions such as `if`. */
  readonly compute: number
  /** The first API version that has the function. */
  readonly since: ApiVersion
  /** The first API version without the function: from then on, another function has the same wire keys. */
  readonly until: ApiVersion | undefined
  /** The name of the replacement, if the function is deprecated. Older drivers still call deprecated functions. */
  readonly deprecatedFor: string | undefined
  /** The argument types by wire key. Arguments are evaluated, and their errors are reported, in this order. */
  readonly arguments: ArgumentTypes
  /** The types of the arguments, in the order of `arguments`. */
  readonly types: readonly ArgumentType<unknown>[]
  readonly result: string
  /** A sentence for docs/reference/functions.md. */
  readonly summary: string
  /** Wire JSON for docs/reference/functions.md, with `…` for variable parts. A test runs the example. */
  readonly example: readonly [query: string, result: string]
  readonly evaluate: (args: Readonly<Record<string, unknown>>, call: Call) => Value
}

/** The values that a function receives for arguments of the types `A`. */
export type ArgumentsOf<A extends ArgumentTypes> = {
  readonly [K in keyof A]: A[K] extends ArgumentType<infer T> ? T : never
}

export type Lifetime = Partial<Pick<FunctionDefinition, 'since' | 'until' | 'deprecatedFor'>>

/** The name of the function is the key of its first argument. */
interface FunctionDeclaration<A extends ArgumentTypes>
  extends Lifetime,
    Pick<FunctionDefinition, 'result' | 'summary' | 'example'> {
  /** The effect of the function. The default is `pure`. */
  readonly effect?: Effect
  /** The same as `effect` by default. */
  readonly staticEffect?: Effect
  /** The default is 1. */
  readonly compute?: number
  readonly arguments: A
  readonly evaluate: (args: ArgumentsOf<A>, call: Call) => Value
}

/** The declaration of a function with one argument. Its `example` contains only the argument and the result. */
interface UnaryDeclaration<T> extends Omit<FunctionDeclaration<ArgumentTypes>, 'arguments' | 'evaluate'> {
  readonly evaluate: (argument: T, call: Call, name: string) => Value
}

/** A family of functions: a chapter of docs/reference/functions.md. */
export interface FunctionFamily {
  readonly name: string
  readonly definitions: readonly FunctionDefinition[]
}

/** Adds the default values. */
export function define<A extends ArgumentTypes>(
  declaration: FunctionDeclaration<A>,
): Omit<FunctionDefinition, 'family'> {
  const keys = Object.keys(declaration.arguments)
  const effect = declaration.effect ?? 'pure'
  return {
    name: keys[0] as string,
    effect,
    staticEffect: effect,
    compute: 1,
    since: '2.0',
    until: undefined,
    deprecatedFor: undefined,
    ...declaration,
    keys,
    types: Object.values(declaration.arguments),
    evaluate: declaration.evaluate as FunctionDefinition['evaluate'],
  }
}

export function unary<T>(name: string, type: ArgumentType<T>, declaration: UnaryDeclaration<T>) {
  const { evaluate, example, ...documented } = declaration
  return define({
    ...documented,
    arguments: { [name]: type },
    example: [`{"${name}": ${example[0]}}`, example[1]],
    evaluate: (args, call) => evaluate(args[name] as T, call, name),
  })
}

export function family(
  name: string,
  definitions: readonly Omit<FunctionDefinition, 'family'>[],
): FunctionFamily {
  return { name, definitions: definitions.map(definition => ({ ...definition, family: name })) }
}

/** Creates the error for a value of the wrong type: `X expected, Y provided.` */
export function mismatch(
  expected: string,
  value: Value,
  call: Call,
  ...steps: (string | number)[]
): QueryError {
  return call.invalid(msg`${expected} expected, ${typeName(value)} provided.`, ...steps)
}

export function undefinedReference(value: UnresolvedRef, call: Call, ...at: (string | number)[]): QueryError {
  return call.error('invalid ref', undefinedReferenceText(value, call.session), ...at)
}

export function undefinedReferenceText({ target }: UnresolvedRef, session: Session): Message {
  switch (target.type) {
    case 'document':
      return undefinedReferenceText(target.collection, session)
    case 'native':
      return undefinedReferenceText(target.scope, session)
    case 'key':
      return target.scope instanceof UnresolvedRef
        ? undefinedReferenceText(target.scope, session)
        : msg`Ref refers to undefined key '${target.id}'`
    default: {
      // In API versions before 2.7, collections are called classes.
      const isClass = target.type === 'collection' && !supportsVersion(session, '2.7')
      return msg`Ref refers to undefined ${own(isClass ? 'class' : target.type)} '${target.name}'`
    }
  }
}

/** Returns API version 4 if the client uses another language. */
export function apiVersionOf({ dialect }: Session): ApiVersion {
  return isApiVersion(dialect) ? dialect : '4'
}

export function supportsVersion(session: Session, minimum: ApiVersion): boolean {
  return isAtLeast(apiVersionOf(session), minimum)
}
