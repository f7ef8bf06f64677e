// Defines the runtime values. Storable values are represented in their stored form (src/values/value.ts), so document
// fields need no conversion: integers are `bigint`, doubles are `number`, and objects are `Map`s. Version 10
// distinguishes Int and Long. A `bigint` that fits 32 bits is an Int, and a wider `bigint` is a Long. A `NarrowLong` is
// a Long that fits 32 bits. A null that a query creates contains its cause.

import type { Message } from '../base/message.ts'
import type {
  LocalDate,
  Ref,
  RenderCache,
  Value as StoredValue,
  Time,
  TransactionTime,
  Uuid,
} from '../values/value.ts'
import type { Arity } from './arity.ts'
import type { LambdaNode } from './syntax/nodes.ts'
import type { Source, Span } from './syntax/source.ts'

/** Comes from the wire, from some functions or from the unary minus, never from binary operators. */
export class NarrowLong {
  readonly kind = 'long'
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/** The cause of a null, for the error message of the operator `!`. */
export type NullCause =
  | { readonly type: 'literal' }
  | { readonly type: 'missing field'; readonly field: string; readonly holder: string }
  /** No element was found. `reason` is the end of the message `Null value, due to …`. */
  | { readonly type: 'no element'; readonly reason: Message }

/** A null with its cause and its origin in the text. A null from storage or the wire is a plain `null`. */
export class NullValue {
  readonly kind = 'null'
  readonly cause: NullCause
  readonly span: Span | undefined
  constructor(cause: NullCause, span: Span | undefined) {
    this.cause = cause
    this.span = span
  }
}

export const literalNull: NullCause = { type: 'literal' }

/** A reference to a missing document is not null. */
export function isNull(value: Value): value is null | NullValue {
  return value === null || value instanceof NullValue
}

/** A 64-bit integer with its own type, which is not a number. */
export class Id {
  readonly kind = 'id'
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/** The part of a library entry or table (library/entry.ts) that this file uses. */
interface TableEntry {
  readonly name: string
}

/** A module of the library, such as `Math`, or a collection. */
export class Module {
  readonly kind = 'module'
  readonly name: string
  /** The enclosing module, such as `Collection` for `Collection.Deleted`. */
  readonly parent: string | undefined
  /** Always `Members` (library/entry.ts). */
  readonly members: TableEntry
  /** User collections may have the name of a built-in module. */
  readonly isUserCollection: boolean
  constructor(name: string, members: TableEntry, parent?: string, isUserCollection = false) {
    this.name = name
    this.members = members
    this.parent = parent
    this.isUserCollection = isUserCollection
  }
  /** Includes the enclosing module. */
  get path(): string {
    return this.parent === undefined ? this.name : `${this.parent}.${this.name}`
  }
}

/** A user collection, with the name or alias that the query uses. */
export class UserCollection extends Module {
  readonly definition: Doc
  constructor(name: string, members: TableEntry, definition: Doc) {
    super(name, members, undefined, true)
    this.definition = definition
  }
  get ref(): Ref {
    return this.definition.ref
  }
}

/** A stored version, or a version that is about to be written. */
export interface DocumentVersion {
  /** The time of the write. For a stored version, a number of microseconds. */
  readonly ts: number | Time | TransactionTime
  readonly fields: ReadonlyMap<string, StoredValue>
  /** Caches the text of a stored version. */
  readonly renderCache?: RenderCache | undefined
}

/** A plain reference has no special state. */
type DocState =
  /** The call that returned this value has deleted the document. */
  | 'deleted'
  /** The result of a search by name, which cannot be stored. The document need not exist. */
  | 'by name'
  /** A version that was read earlier, or an unstored version for predicates and checks. */
  | DocumentVersion

/** The index that found a document. Covered fields are available without reading the document. */
export interface IndexUse {
  /** The name of the collection and the name of the index, such as `Jar.byName`. */
  readonly name: string
  /** The fields whose values the index contains unchanged; `all` while a computed field of the index runs. */
  readonly covered: ReadonlySet<string> | 'all'
  /** The argument list in the call of the index function. Absent for a set from a cursor. */
  readonly span?: Span | undefined
}

interface DocOptions {
  /** Name of a schema object, which has no visible id. */
  readonly name?: string | undefined
  /** Read time of a value from an `at` block. */
  readonly readAt?: number | undefined
  readonly state?: DocState
  readonly foundIn?: IndexUse | undefined
  /** Fields that only the result of the call that created the document shows, such as a secret. */
  readonly shown?: ReadonlyMap<string, StoredValue>
}

/** A document, or a reference to a document that may not exist. */
export class Doc {
  readonly kind = 'document'
  readonly ref: Ref
  readonly collection: Module
  readonly name: string | undefined
  readonly readAt: number | undefined
  readonly state: DocState | undefined
  readonly shown: DocOptions['shown']
  readonly foundIn: IndexUse | undefined
  constructor(ref: Ref, collection: Module, { foundIn, name, readAt, shown, state }: DocOptions = {}) {
    this.ref = ref
    this.collection = collection
    this.name = name
    this.readAt = readAt
    this.state = state
    this.shown = shown
    this.foundIn = foundIn
  }
}

export abstract class SetValue {
  readonly kind = 'set'
  /** The form of the set in cursors and event sources: its kind, followed by its parts. */
  abstract saved(): readonly StoredValue[]
}

/** A cursor: the encoded position where the next page of a set starts. */
export class SetCursor {
  readonly kind = 'cursor'
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Names and array indexes, starting at the document. */
export type WatchedPath = readonly (string | bigint)[]

/** The changes of a set after the creation of the source. */
export class EventSource {
  readonly kind = 'event source'
  readonly set: SetValue
  /** The fields whose changes are events. The default is all fields. */
  readonly watched: readonly WatchedPath[] | undefined
  constructor(set: SetValue, watched?: readonly WatchedPath[]) {
    this.set = set
    this.watched = watched
  }
}

/** A variable, with the variables of the enclosing scopes in `outer`. */
export class Scope {
  readonly name: string
  readonly value: Value
  readonly outer: Scope | undefined
  constructor(name: string, value: Value, outer: Scope | undefined) {
    this.name = name
    this.value = value
    this.outer = outer
  }
}

export class Lambda {
  readonly kind = 'lambda'
  readonly node: LambdaNode
  readonly source: Source
  readonly scope: Scope | undefined
  constructor(node: LambdaNode, source: Source, scope: Scope | undefined) {
    this.node = node
    this.source = source
    this.scope = scope
  }
}

/** A method with its receiver, or a function of a module. */
export class BoundFunction {
  readonly kind = 'function'
  readonly receiver: Value
  /** Always a FunctionDefinition (library/entry.ts). */
  readonly definition: TableEntry
  constructor(receiver: Value, definition: TableEntry) {
    this.receiver = receiver
    this.definition = definition
  }
  get name(): string {
    return this.definition.name
  }
}

export class UserFunction {
  readonly kind = 'user function'
  readonly name: string
  readonly definition: Doc
  readonly arity: Arity
  constructor(name: string, definition: Doc, arity: Arity) {
    this.name = name
    this.definition = definition
    this.arity = arity
  }
  get ref(): Ref {
    return this.definition.ref
  }
}

export type FunctionValue = Lambda | BoundFunction | UserFunction

/** A plain object. Its fields keep their order. */
export type Struct = ReadonlyMap<string, Value>

export type Value =
  | null
  | NullValue
  | boolean
  | bigint
  | number
  | string
  | NarrowLong
  | Uint8Array
  | Time
  | LocalDate
  | Uuid
  | TransactionTime
  | Id
  | Doc
  | Module
  | SetValue
  | SetCursor
  | EventSource
  | FunctionValue
  | readonly Value[]
  | Struct

export function isStruct(value: Value): value is Struct {
  return value instanceof Map
}

export function isArray(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

export function isFunction(value: Value): value is FunctionValue {
  return value instanceof Lambda || value instanceof BoundFunction || value instanceof UserFunction
}

/** The least and the greatest Int. */
const intMin = -(2n ** 31n)
const intMax = 2n ** 31n - 1n

export function fitsInt(integer: bigint): boolean {
  return integer >= intMin && integer <= intMax
}

/** Accepts an integer of any size. */
export function asLong(integer: bigint): bigint | NarrowLong {
  return fitsInt(integer) ? new NarrowLong(integer) : integer
}

/** The integer of an Int or a Long; undefined for other values. */
export function integerOf(value: Value): bigint | undefined {
  if (typeof value === 'bigint') return value
  return value instanceof NarrowLong ? value.value : undefined
}

/** Int, Long or Double. */
export type NumberValue = bigint | number | NarrowLong

export function isNumber(value: Value): value is NumberValue {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof NarrowLong
}

export type Tagged = Extract<Value, { readonly kind: string }>

/** All numbers have the same kind, and all nulls have the same kind. */
export type Kind =
  | 'number'
  | 'string'
  | 'boolean'
  | 'bytes'
  | 'array'
  | 'object'
  | Exclude<Tagged['kind'], 'long'>

export function kindOf(value: Value): Kind {
  switch (typeof value) {
    case 'bigint':
    case 'number':
      return 'number'
    case 'string':
      return 'string'
    case 'boolean':
      return 'boolean'
  }
  if (value === null) return 'null'
  if (isArray(value)) return 'array'
  if (isStruct(value)) return 'object'
  if (value instanceof Uint8Array) return 'bytes'
  const { kind } = value as Tagged
  return kind === 'long' ? 'number' : kind
}

/** The name of a value's type in messages. */
export function typeName(value: Value): string {
  if (typeof value === 'number') return 'Double'
  if (typeof value === 'bigint') return fitsInt(value) ? 'Int' : 'Long'
  return value instanceof Module ? value.name : typeNames[kindOf(value)]
}

const typeNames: Readonly<Record<Kind, string>> = {
  number: 'Long',
  string: 'String',
  boolean: 'Boolean',
  bytes: 'Bytes',
  array: 'Array<Any>',
  object: '{ *: Any }',
  null: 'Null',
  time: 'Time',
  date: 'Date',
  uuid: 'UUID',
  'transaction time': 'TransactionTime',
  id: 'ID',
  document: 'Doc',
  module: 'Module',
  set: 'Set<Any>',
  cursor: 'SetCursor',
  'event source': 'EventSource<Any>',
  lambda: 'Lambda',
  function: 'Function',
  'user function': 'Function',
}
