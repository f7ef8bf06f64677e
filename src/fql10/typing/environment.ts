// Defines the environment of a check: the types of global names, and the shapes of named types.

import type { Type } from './terms.ts'

/** A type with parameters. Within the type, the parameters are generic types (terms.ts), which each use replaces. */
export interface Scheme {
  readonly parameters: readonly string[]
  readonly type: Type
  /** The environment endpoint returns this text. */
  readonly text: string
}

/** The fields, operators and calls that values of a named type support. */
export interface Shape {
  readonly parameters: readonly string[]
  readonly fields: ReadonlyMap<string, Scheme>
  readonly operators?: ReadonlyMap<string, Scheme>
  /** Returns the type of one field of `alias`. The types of some fields are known before the complete alias. */
  readonly member?: (name: string) => Scheme | undefined
  /** The type of a value that is called. */
  readonly apply?: Scheme | undefined
  /** The type of an access such as `[0]`. */
  readonly access?: Scheme | undefined
  /** The type that the name stands for. */
  readonly alias?: Scheme | undefined
  /** The name in the environment endpoint, if it differs. */
  readonly self?: string | undefined
  /** The kind of the type, for editors. */
  readonly hint?: 'module' | 'server_collection' | 'user_collection' | undefined
  /** True for the type of documents. `Ref` and `EmptyRef` accept only these types. */
  readonly isDocument?: boolean
}

export interface Environment {
  readonly global: (name: string) => Scheme | undefined
  readonly shape: (name: string) => Shape | undefined
}
