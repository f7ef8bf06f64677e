// How the library is declared: a table for each type of value and each module, with an entry for each field and
// function that says everything about it once. Calls, completion, the generated reference and the test against the
// inventory read the same entry.

import type { Arity } from '../arity.ts'
import type { Call, CallEffect } from '../call.ts'
import type { BoundFunction, Module, Value } from '../value.ts'

/** A type of parameter: what it accepts, and what it makes of it. */
export interface Parameter<T> {
  /** The type's name in messages and in the reference. */
  readonly type: string
  /** What the function receives, or undefined when the value is of another type. */
  readonly cast: (value: Value) => T | undefined
  /** For a callback: how many arguments it is called with, and its name in messages about that where it differs. */
  readonly callback?: { readonly count: number; readonly name: string | undefined }
}

/** What is told about an entry: a sentence, and an expression with the decorated text of its value (`…` where it varies). */
interface Told {
  /** The type of the result in the reference. */
  readonly result: string
  readonly summary: string
  readonly example: readonly [query: string, result: string]
}

type Parameters = Readonly<Record<string, Parameter<unknown>>>

type ArgumentsOf<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never
}

type None = Readonly<Record<never, never>>

/** One way to call a function. A variadic one has `rest`, and its `run` gets one array. */
export interface Signature {
  readonly parameters: readonly (readonly [name: string, parameter: Parameter<unknown>])[]
  readonly rest: readonly [name: string, parameter: Parameter<unknown>] | undefined
  readonly run: (receiver: never, args: never, call: Call) => Value
}

/** A field of a value: read without a call. */
export interface FieldDefinition extends Told {
  readonly kind: 'field'
  readonly name: string
  readonly read: (receiver: never) => Value
}

/** A function of a module, or a method of a type of values. */
export interface FunctionDefinition extends Told {
  readonly kind: 'function'
  readonly name: string
  readonly effect: CallEffect
  readonly signatures: readonly Signature[]
  readonly arity: Arity
}

/** What a table has under a name. */
export type LibraryEntry = FieldDefinition | FunctionDefinition

/** What a value or a module has: fields and functions by name; a module may be callable itself. */
export interface Members {
  readonly name: string
  readonly entries: ReadonlyMap<string, LibraryEntry>
  /** The call form of a module, such as `Time("…")`; its entry is named `apply`. */
  readonly apply: FunctionDefinition | undefined
}

interface FunctionDeclaration extends Told {
  /** `pure` unless said. */
  readonly effect?: CallEffect
}

interface SignatureDeclaration<Receiver, P extends Parameters> {
  readonly parameters: P
  readonly run: (receiver: Receiver, args: ArgumentsOf<P>, call: Call) => Value
}

interface MethodDeclaration<Receiver, P extends Parameters, O extends Parameters>
  extends FunctionDeclaration {
  /** None unless said. */
  readonly parameters?: P
  /** With these behind the others it is another signature; `run` is the same for both. */
  readonly optional?: O
  readonly run: (receiver: Receiver, args: ArgumentsOf<P> & Partial<ArgumentsOf<O>>, call: Call) => Value
}

function complete(
  name: string,
  { result, summary, example, effect = 'pure' }: FunctionDeclaration,
  signatures: readonly Signature[],
): FunctionDefinition {
  const counts = [...new Set(signatures.map(({ parameters }) => parameters.length))].sort((a, b) => a - b)
  const arity: Arity = { counts, open: signatures.some(({ rest }) => rest !== undefined) }
  return { kind: 'function', name, result, summary, example, effect, signatures, arity }
}

function signature(parameters: Parameters, run: Signature['run']): Signature {
  return { parameters: Object.entries(parameters), rest: undefined, run }
}

/** What makes entries for receivers of one type. */
interface Entries<Receiver> {
  /** A field. */
  field(name: string, declaration: Told & { readonly read: (receiver: Receiver) => Value }): FieldDefinition
  /** A function. */
  method<P extends Parameters = None, O extends Parameters = None>(
    name: string,
    declaration: MethodDeclaration<Receiver, P, O>,
  ): FunctionDefinition
  /** A function with any number of arguments, which come as one array. */
  variadic<T>(
    name: string,
    declaration: FunctionDeclaration & {
      readonly rest: readonly [name: string, parameter: Parameter<T>]
      readonly run: (receiver: Receiver, args: readonly T[], call: Call) => Value
    },
  ): FunctionDefinition
  /** A function whose signatures differ in their types: the first whose types all fit is called. */
  overloaded(
    name: string,
    declaration: FunctionDeclaration & { readonly signatures: readonly Signature[] },
  ): FunctionDefinition
  /** One of those signatures. */
  signature<P extends Parameters>(declaration: SignatureDeclaration<Receiver, P>): Signature
}

/** What makes entries for receivers of one type; functions of modules do not look at theirs. */
export function entriesFor<Receiver>(): Entries<Receiver> {
  return {
    field: (name, declaration) => ({ kind: 'field', name, ...declaration }),
    method(name, declaration) {
      const { parameters = {}, optional, run } = declaration
      const whole = optional === undefined ? [] : [signature({ ...parameters, ...optional }, run)]
      return complete(name, declaration, [signature(parameters, run), ...whole])
    },
    variadic(name, declaration) {
      const { rest, run } = declaration
      return complete(name, declaration, [{ parameters: [], rest, run }])
    },
    overloaded: (name, declaration) => complete(name, declaration, declaration.signatures),
    signature: ({ parameters, run }) => signature(parameters, run),
  }
}

/** The table of a type or a module. */
export function members(name: string, entries: readonly LibraryEntry[], apply?: FunctionDefinition): Members {
  return { name, entries: new Map(entries.map(entry => [entry.name, entry])), apply }
}

/** The table of a module. */
export function membersOfModule(module: Module): Members {
  // Modules are made with tables only.
  return module.members as Members
}

/** The definition of a bound function. */
export function definitionOf({ definition }: BoundFunction): FunctionDefinition {
  // Bound functions are made of definitions only.
  return definition as FunctionDefinition
}
