// Defines the tables of the library, for each type of value and each module, with an entry for each field and function.
// Calls, completion and the generated reference read the same entries.

import type { Arity } from '../arity.ts'
import type { Call, CallEffect } from '../call.ts'
import type { BoundFunction, Module, Value } from '../value.ts'

/** A parameter type: its accepted values, and their conversion. */
export interface Parameter<T> {
  /** Text of the type for error messages and the reference. */
  readonly type: string
  /** Undefined for a value of another type. */
  readonly cast: (value: Value) => T | undefined
  /**
   * Defined for a callback. `count` is the number of arguments that the callback receives. Errors about this number
   * show `name` instead of the parameter's declared name.
   */
  readonly callback?: { readonly count: number; readonly name: string | undefined }
}

/** The example is an expression with its result in the decorated format (`…` if the result varies). */
interface EntryDescription {
  /**
   * The static type, such as `<A, B> (mapper: A => B) => Array<B>`, which is parsed when a check first uses it. Type
   * parameters stand for those of the receiver, in their order, and for further types. The types of arguments may
   * differ from the parameters that calls accept. In members of collections and documents, `Doc` stands for the type of
   * the documents, `NullDoc` for the type of missing documents, and `DocCollection` for the type of the collection.
   */
  readonly type: string
  readonly summary: string
  readonly example: readonly [query: string, result: string]
}

type Parameters = Readonly<Record<string, Parameter<unknown>>>

type ArgumentsOf<P extends Parameters> = {
  readonly [K in keyof P]: P[K] extends Parameter<infer T> ? T : never
}

type None = Readonly<Record<never, never>>

/** A signature of a function. For a variadic function, `rest` is defined, and `run` gets all arguments in one array. */
export interface Signature {
  readonly parameters: readonly (readonly [name: string, parameter: Parameter<unknown>])[]
  readonly rest: readonly [name: string, parameter: Parameter<unknown>] | undefined
  readonly run: (receiver: never, args: never, call: Call) => Value
}

/** Fields are read without a call. */
export interface FieldDefinition extends EntryDescription {
  readonly kind: 'field'
  readonly name: string
  readonly read: (receiver: never) => Value
}

export interface FunctionDefinition extends EntryDescription {
  readonly kind: 'function'
  readonly name: string
  readonly effect: CallEffect
  readonly signatures: readonly Signature[]
  readonly arity: Arity
}

export type LibraryEntry = FieldDefinition | FunctionDefinition

/** The fields and functions of a type or a module, by name. A module may be callable. */
export interface Members {
  readonly name: string
  readonly entries: ReadonlyMap<string, LibraryEntry>
  /** The function for a call of the module itself, such as `Time("…")`. Its entry is named `apply`. */
  readonly apply: FunctionDefinition | undefined
}

interface FunctionDeclaration extends EntryDescription {
  /** The default is `pure`. */
  readonly effect?: CallEffect
}

interface MethodDeclaration<Receiver, P extends Parameters, O extends Parameters>
  extends FunctionDeclaration {
  /** If undefined, the function has no required parameters. */
  readonly parameters?: P
  /** A second signature has `parameters` followed by these parameters. Both signatures use the same `run`. */
  readonly optional?: O
  readonly run: (receiver: Receiver, args: ArgumentsOf<P> & Partial<ArgumentsOf<O>>, call: Call) => Value
}

function complete(
  name: string,
  { type, summary, example, effect = 'pure' }: FunctionDeclaration,
  signatures: readonly Signature[],
): FunctionDefinition {
  const counts = [...new Set(signatures.map(({ parameters }) => parameters.length))].sort((a, b) => a - b)
  const arity: Arity = { counts, open: signatures.some(({ rest }) => rest !== undefined) }
  return { kind: 'function', name, type, summary, example, effect, signatures, arity }
}

function signature(parameters: Parameters, run: Signature['run']): Signature {
  return { parameters: Object.entries(parameters), rest: undefined, run }
}

interface Entries<Receiver> {
  field(
    name: string,
    declaration: EntryDescription & { readonly read: (receiver: Receiver) => Value },
  ): FieldDefinition
  method<P extends Parameters = None, O extends Parameters = None>(
    name: string,
    declaration: MethodDeclaration<Receiver, P, O>,
  ): FunctionDefinition
  /** `run` gets the arguments as an array. */
  variadic<T>(
    name: string,
    declaration: FunctionDeclaration & {
      readonly rest: readonly [name: string, parameter: Parameter<T>]
      readonly run: (receiver: Receiver, args: readonly T[], call: Call) => Value
    },
  ): FunctionDefinition
  /** A call uses the first signature that accepts its arguments. */
  overloaded(
    name: string,
    declaration: FunctionDeclaration & { readonly signatures: readonly Signature[] },
  ): FunctionDefinition
  signature<P extends Parameters>(declaration: {
    readonly parameters: P
    readonly run: (receiver: Receiver, args: ArgumentsOf<P>, call: Call) => Value
  }): Signature
}

/** Creates entries for receivers of one type. Functions of modules ignore their receiver. */
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

export function members(name: string, entries: readonly LibraryEntry[], apply?: FunctionDefinition): Members {
  return { name, entries: new Map(entries.map(entry => [entry.name, entry])), apply }
}

export function membersOfModule(module: Module): Members {
  // Modules are always created with `members`.
  return module.members as Members
}

export function definitionOf({ definition }: BoundFunction): FunctionDefinition {
  // Bound functions are always created with a definition.
  return definition as FunctionDefinition
}
