// The declaration of query functions. A single entry contains everything about a function: its wire keys with their
// types, its effect, its documentation and its implementation. The parser, the evaluator, the metrics and the generated
// reference all read this entry.

import { type Message, msg, own } from '../base/message.ts'
import type { Effect } from '../model/code-interface.ts'
import type { Session } from '../model/session.ts'
import { UnresolvedRef, type Value } from '../values/value.ts'
import type { CallExpression, FunctionHeader } from './expression.ts'
import { type Position, QueryError, type QueryErrorCode } from './query-errors.ts'
import { typeName } from './values/tagged.ts'
import type { Variables } from './variables.ts'
import { type ApiVersion, isApiVersion, isAtLeast } from './wire/version.ts'

/** A running call: the context that a function gets in addition to its arguments. */
export class Call {
  readonly session: Session
  readonly expression: CallExpression
  readonly variables: Variables | undefined

  constructor(session: Session, expression: CallExpression, variables: Variables | undefined) {
    this.session = session
    this.expression = expression
    this.variables = variables
  }

  /** The position of the call, followed by the steps `further` to a part of the call. */
  position(...further: (string | number)[]): Position {
    return this.expression.place.position(...further)
  }

  /** An error at the position of the call, followed by the steps `further`. */
  error(code: QueryErrorCode, description: Message, ...further: (string | number)[]): QueryError {
    return QueryError.of(code, description, this.position(...further))
  }

  /** The error `invalid argument` at the position of the call, followed by the steps `further`. */
  invalid(description: Message, ...further: (string | number)[]): QueryError {
    return this.error('invalid argument', description, ...further)
  }
}

/** The definition of a call's function. */
export function definitionOf({ definition }: CallExpression): FunctionDefinition {
  // The parser only creates calls with definitions.
  return definition as FunctionDefinition
}

/** How an argument is passed: evaluated and checked, or unevaluated. */
type ArgumentMode = 'value' | 'lazy' | 'lazy list' | 'lazy sequence' | 'lambda' | 'lambda or value'

/** The type of an argument: how it is passed and checked. `T` is the type that the function receives. */
export interface ArgumentType<T> {
  readonly mode: ArgumentMode
  /** The name of the type in the reference, such as `Integer`. */
  readonly name: string
  /**
   * Checks the value of the argument `key`. Throws an error at the argument's position if the value is invalid. Not
   * called in the `lazy` modes, because the argument has no value yet.
   */
  readonly check: (value: Value, call: Call, key: string) => T
  /** True if the argument may be omitted. The function then receives undefined. An explicit null is not an omission. */
  readonly optional?: true
}

/** The same type for an argument that may be omitted. */
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
  /** The effect of a call. Contexts that forbid this effect reject the call. */
  readonly effect: Effect
  /**
   * The effect that the parser assumes for a lambda that contains a call of this function. It differs from `effect`
   * only for the function `call`, because the called user function may have any effect.
   */
  readonly staticEffect: Effect
  /** Number of compute units per call; 0 for control forms. */
  readonly compute: number
  /** The first API version that has the function. */
  readonly since: ApiVersion
  /** The first API version in which a different function has these keys. */
  readonly until: ApiVersion | undefined
  /** The name of the function that replaces this function. This function is kept only for older drivers. */
  readonly deprecatedFor: string | undefined
  /** The types by wire key, in the order in which arguments are evaluated and errors are reported. */
  readonly arguments: ArgumentTypes
  /** The types of the arguments, in the order of `arguments`. */
  readonly types: readonly ArgumentType<unknown>[]
  readonly result: string
  /** A sentence for the reference. */
  readonly summary: string
  /** A query as wire JSON and its result (with `…` for variable parts), for the reference and its test. */
  readonly example: readonly [query: string, result: string]
  readonly evaluate: (args: Readonly<Record<string, unknown>>, call: Call) => Value
}

/** The values that a function receives for arguments of these types. */
export type ArgumentsOf<A extends ArgumentTypes> = {
  readonly [K in keyof A]: A[K] extends ArgumentType<infer T> ? T : never
}

/** The API versions in which a function exists, and the name of the function that replaces this function. */
export type Lifetime = Partial<Pick<FunctionDefinition, 'since' | 'until' | 'deprecatedFor'>>

/** The declaration of a function in a family file. The name of the function is the key of its first argument. */
interface FunctionDeclaration<A extends ArgumentTypes>
  extends Lifetime,
    Pick<FunctionDefinition, 'result' | 'summary' | 'example'> {
  /** Pure by default. */
  readonly effect?: Effect
  /** The same as `effect` by default. */
  readonly staticEffect?: Effect
  /** 1 by default. */
  readonly compute?: number
  readonly arguments: A
  readonly evaluate: (args: ArgumentsOf<A>, call: Call) => Value
}

/** The declaration of a function with one argument. Its `example` contains only the argument and the result. */
interface UnaryDeclaration<T> extends Omit<FunctionDeclaration<ArgumentTypes>, 'arguments' | 'evaluate'> {
  readonly evaluate: (argument: T, call: Call, name: string) => Value
}

/** A family of functions. Its name is also the name of its chapter in the reference. */
export interface FunctionFamily {
  readonly name: string
  readonly definitions: readonly FunctionDefinition[]
}

/** Adds the default values to a declaration. {@link family} collects the resulting definitions. */
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

/** Like {@link define}, for a function with one argument. */
export function unary<T>(name: string, type: ArgumentType<T>, declaration: UnaryDeclaration<T>) {
  const { evaluate, example, ...documented } = declaration
  return define({
    ...documented,
    arguments: { [name]: type },
    example: [`{"${name}": ${example[0]}}`, example[1]],
    evaluate: (args, call) => evaluate(args[name] as T, call, name),
  })
}

/** Creates a family of functions, which is one chapter of the reference. */
export function family(
  name: string,
  definitions: readonly Omit<FunctionDefinition, 'family'>[],
): FunctionFamily {
  return { name, definitions: definitions.map(definition => ({ ...definition, family: name })) }
}

/** The error for a value of the wrong type: `X expected, Y provided.` */
export function mismatch(
  expected: string,
  value: Value,
  call: Call,
  ...steps: (string | number)[]
): QueryError {
  return call.invalid(msg`${expected} expected, ${typeName(value)} provided.`, ...steps)
}

/** The error for using an unresolved reference. */
export function undefinedReference(value: UnresolvedRef, call: Call, ...at: (string | number)[]): QueryError {
  return call.error('invalid ref', undefinedReferenceText(value, call.session), ...at)
}

/** The error text for an unresolved reference. The text names the object that does not exist. */
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
      // Versions before 2.7 say class for collection.
      const isClass = target.type === 'collection' && !speaks(session, '2.7')
      return msg`Ref refers to undefined ${own(isClass ? 'class' : target.type)} '${target.name}'`
    }
  }
}

/** The API version of the session's client. Clients of another language get version 4. */
export function apiVersionOf({ dialect }: Session): ApiVersion {
  return isApiVersion(dialect) ? dialect : '4'
}

/** Returns whether the API version is `minimum` or newer. */
export function speaks(session: Session, minimum: ApiVersion): boolean {
  return isAtLeast(apiVersionOf(session), minimum)
}
