// Runtime values. What can be stored has the form in which it is stored (src/values/value.ts), so fields of documents
// are values as they are: integers are `bigint`, doubles `number`, objects `Map`s. Version 10 tells Int from Long: an
// integer that fits 32 bits is an Int and a wider one a Long, but for a `NarrowLong`. Null knows why it is null.

import type { Message } from '../base/message.ts'
import type {
  LocalDate,
  Ref,
  Value as StoredValue,
  Time,
  TransactionTime,
  Uuid,
  VersionRenderCache,
} from '../values/value.ts'
import type { Arity } from './arity.ts'
import type { LambdaNode } from './syntax/nodes.ts'
import type { Source, Span } from './syntax/source.ts'

/** A Long that would fit 32 bits: it comes from the wire and from some functions; arithmetic never makes one. */
export class NarrowLong {
  readonly kind = 'long'
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/** Why a value is null, as `!` tells it. */
export type NullCause =
  | { readonly type: 'literal' }
  | { readonly type: 'missing field'; readonly field: string; readonly holder: string }
  /** Nothing was found; the reason ends the sentence `Null value, due to …`. */
  | { readonly type: 'no element'; readonly reason: Message }

/** Null with its cause and the place it arose at. A stored null, or one from the wire, is a plain `null`. */
export class NullValue {
  readonly kind = 'null'
  readonly cause: NullCause
  readonly span: Span | undefined
  constructor(cause: NullCause, span: Span | undefined) {
    this.cause = cause
    this.span = span
  }
}

/** The cause of nulls that are written or stored. */
export const literalNull: NullCause = { type: 'literal' }

/** Whether a value is null; missing documents are not. */
export function isNull(value: Value): value is null | NullValue {
  return value === null || value instanceof NullValue
}

/** The id of a document: a 64-bit integer that is no number. */
export class Id {
  readonly kind = 'id'
  readonly value: bigint
  constructor(value: bigint) {
    this.value = value
  }
}

/** A field, method or module is declared in a table (library/definition.ts); of the entry, values need the name. */
interface Declared {
  readonly name: string
}

/** A module, or the companion of a collection. */
export class Module {
  readonly kind = 'module'
  readonly name: string
  /** The module it is in, such as `Collection` for `Collection.Deleted`. */
  readonly parent: string | undefined
  /** Its fields and functions: library/definition.ts#Members. */
  readonly members: Declared
  /** Whether users have defined it; its name may be that of a module. */
  readonly isUserCollection: boolean
  constructor(name: string, members: Declared, parent?: string, isUserCollection = false) {
    this.name = name
    this.members = members
    this.parent = parent
    this.isUserCollection = isUserCollection
  }
  /** Its name, behind that of the module it is in. */
  get path(): string {
    return this.parent === undefined ? this.name : `${this.parent}.${this.name}`
  }
}

/** The companion of a collection of the users, by the name it was reached by. */
export class UserCollection extends Module {
  /** The collection's own document. */
  readonly definition: Doc
  constructor(name: string, members: Declared, definition: Doc) {
    super(name, members, undefined, true)
    this.definition = definition
  }
  get ref(): Ref {
    return this.definition.ref
  }
}

/** What a document was or would be at some moment. */
export interface DocumentVersion {
  /** Microseconds, where it is stored. */
  readonly ts: number | Time | TransactionTime
  readonly fields: ReadonlyMap<string, StoredValue>
  /** Where the text of a stored version is remembered. */
  readonly shown?: VersionRenderCache | undefined
}

/** What a document value stands for that is no reference to whatever is stored. */
type DocState =
  /** It was deleted by the call that gave this value. */
  | 'deleted'
  /** It was reached by its name, and is nothing that can be stored. */
  | 'by name'
  /** It was read before it was asked for; or is not stored, for predicates and checks. */
  | DocumentVersion

/** The index that a document was found in: what its entry holds need not be read. */
export interface IndexUse {
  /** With the name of its collection. */
  readonly name: string
  /** The fields that its entries hold as they are; `all` while one of them is computed. */
  readonly covered: ReadonlySet<string> | 'all'
  /** The argument list of the index's function; absent where a cursor goes on. */
  readonly span?: Span | undefined
}

/** What is special about one value of a document. */
interface DocOptions {
  /** The name of a schema object, which has no id. */
  readonly name?: string | undefined
  /** The time it is read as of, when it came out of an `at`. */
  readonly readAt?: number | undefined
  readonly state?: DocState
  readonly foundIn?: IndexUse | undefined
  /** Fields that only the call that made the document shows: a secret. */
  readonly shown?: ReadonlyMap<string, StoredValue>
}

/** A document or a reference to one: whether it exists shows when it is read. */
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

/** A lazy set. */
export abstract class SetValue {
  readonly kind = 'set'
  /** What it is made of as stored values, its kind first; `save` makes them of values. */
  abstract saved(save: (value: Value) => StoredValue): readonly StoredValue[]
}

/** Where a page of a set ended, as text. */
export class SetCursor {
  readonly kind = 'cursor'
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** A field that is followed: names and indexes, from the document inwards. */
export type WatchedPath = readonly (string | bigint)[]

/** The changes of a set, from now on. */
export class EventSource {
  readonly kind = 'event source'
  readonly set: SetValue
  /** The fields whose changes count; all when absent. */
  readonly watched: readonly WatchedPath[] | undefined
  constructor(set: SetValue, watched?: readonly WatchedPath[]) {
    this.set = set
    this.watched = watched
  }
}

/** Variables, innermost first. */
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

/** A lambda with the variables of its place. */
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

/** A function of the library with its receiver: a method, or a function of a module. */
export class BoundFunction {
  readonly kind = 'function'
  readonly receiver: Value
  /** library/definition.ts#FunctionDefinition. */
  readonly definition: Declared
  constructor(receiver: Value, definition: Declared) {
    this.receiver = receiver
    this.definition = definition
  }
  get name(): string {
    return this.definition.name
  }
}

/** A function that users have defined, by the name it was reached by. */
export class UserFunction {
  readonly kind = 'user function'
  readonly name: string
  /** The function's document. */
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

/** What can be called. */
export type FunctionValue = Lambda | BoundFunction | UserFunction

/** A plain object; its fields keep their order. */
export type Struct = ReadonlyMap<string, Value>

/** Any value. */
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

/** Whether a value is a plain object. */
export function isStruct(value: Value): value is Struct {
  return value instanceof Map
}

/** Whether a value is an array. */
export function isArray(value: Value): value is readonly Value[] {
  return Array.isArray(value)
}

/** Whether a value is a function. */
export function isFunction(value: Value): value is FunctionValue {
  return value instanceof Lambda || value instanceof BoundFunction || value instanceof UserFunction
}

/** The least and the greatest Int. */
const intMin = -(2n ** 31n)
const intMax = 2n ** 31n - 1n

/** Whether an integer fits 32 bits. */
export function fitsInt(integer: bigint): boolean {
  return integer >= intMin && integer <= intMax
}

/** An integer as a Long, whatever its size. */
export function asLong(integer: bigint): bigint | NarrowLong {
  return fitsInt(integer) ? new NarrowLong(integer) : integer
}

/** The integer of an Int or a Long, undefined for anything else. */
export function integerOf(value: Value): bigint | undefined {
  if (typeof value === 'bigint') return value
  return value instanceof NarrowLong ? value.value : undefined
}

/** A number: Int, Long or Double. */
export type NumberValue = bigint | number | NarrowLong

/** Whether a value is a number. */
export function isNumber(value: Value): value is NumberValue {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof NarrowLong
}

type Tagged = Extract<Value, { readonly kind: string }>

/** What tells types of values apart. Numbers of all widths are one, and so are all nulls. */
export type Kind =
  | 'number'
  | 'string'
  | 'boolean'
  | 'bytes'
  | 'array'
  | 'object'
  | Exclude<Tagged['kind'], 'long'>

/** The kind of a value. */
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

/** The name of a value's type, as messages say it. */
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
