// The value model of the language. Values are immutable once made. Integers are `bigint` (64 bits, wrapped by
// the arithmetic functions), doubles are `number`, so `1` and `1.0` never meet by accident. Objects are `Map`s,
// because insertion order counts even for keys that look like integers.

import { hashSeed, hashWord } from '../base/bytes.ts'
import type { Micros } from '../base/micros.ts'

import { flat } from './json-text.ts'

export type { Micros } from '../base/micros.ts'

/** Identifies a database permanently, whatever its name or parent; the root database is {@link rootDatabase}. */
export type DatabaseId = bigint

/** The number of a collection within its database: native ones below 1024, user collections from 1024. */
export type CollectionId = number

/** The database around all others. */
export const rootDatabase: DatabaseId = 0n

/** The numbers of the native collections. Stored in every key: never renumber. */
export const native = {
  databases: 1,
  collections: 2,
  indexes: 3,
  functions: 4,
  roles: 5,
  access_providers: 6,
  keys: 7,
  tokens: 8,
  credentials: 9,
} as const

/** The numbers of collections that no language shows: the files of schemas. Stored in every key: never renumber. */
export const unlisted = {
  /** The files of the schema in force. */
  schema_files: 10,
  /** Those of the schema that is to come, and that there is one. */
  staged_schema: 11,
} as const

/** The name of a native collection. */
export type NativeName = keyof typeof native

/** The native collection that holds each kind of schema object. */
export const nativeOfKind = {
  database: 'databases',
  collection: 'collections',
  index: 'indexes',
  function: 'functions',
  role: 'roles',
  access_provider: 'access_providers',
} as const satisfies Readonly<Record<string, NativeName>>

/** The kinds of schema objects that have a name. */
export type SchemaKind = keyof typeof nativeOfKind

/** The kind of schema objects that a native collection holds. */
export const kindOfNative = new Map<NativeName, SchemaKind>(
  Object.entries(nativeOfKind).map(([kind, name]) => [name, kind as SchemaKind]),
)

/** The native collections whose documents are addressed by name. */
export const namedNatives: ReadonlySet<CollectionId> = new Set(
  Object.values(nativeOfKind).map(name => native[name]),
)

const nativeNames = new Map<CollectionId, NativeName>(
  Object.entries(native).map(([name, id]) => [id, name as NativeName]),
)

/** The name of a native collection, or undefined for a user collection. */
export function nativeName(collection: CollectionId): NativeName | undefined {
  return nativeNames.get(collection)
}

/** The native collection of that name; `classes` is the older spelling of `collections`. */
export function nativeNamed(name: string): NativeName | undefined {
  if (name === 'classes') return 'collections'
  return Object.hasOwn(native, name) ? (name as NativeName) : undefined
}

/** The first number given to a user collection. */
export const firstUserCollection: CollectionId = 1024

/** An instant with nanosecond precision. `seconds` since the epoch may be negative; 0 <= nanos < 1e9. */
export class Time {
  readonly kind = 'time'
  readonly seconds: bigint
  readonly nanos: number
  constructor(seconds: bigint, nanos: number) {
    this.seconds = seconds
    this.nanos = nanos
  }
}

/** A calendar date as days since 1970-01-01. */
export class LocalDate {
  readonly kind = 'date'
  readonly epochDay: number
  constructor(epochDay: number) {
    this.epochDay = epochDay
  }
}

/** A UUID in its canonical lower-case text. */
export class Uuid {
  readonly kind = 'uuid'
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/**
 * A reference to a document of any kind. References to schema objects hold internal numbers, not names, so a
 * rename shows through. A collection is the document `id` of `native.collections`; a native collection itself
 * is the document of `native.collections` whose id is its own number (below 1024).
 */
export class Ref {
  readonly kind = 'ref'
  readonly database: DatabaseId
  readonly collection: CollectionId
  readonly id: bigint
  #idText: string | undefined
  #tail: string | undefined
  #text: string | undefined
  #hash: number | undefined
  constructor(database: DatabaseId, collection: CollectionId, id: bigint) {
    this.database = database
    this.collection = collection
    this.id = id
  }

  /** The id in decimal, made once: references of remembered entries and documents are shown again and again. */
  get idText(): string {
    this.#idText ??= String(this.id)
    return this.#idText
  }

  /** Its JSON, which ends with `tail`; made once for each of these. */
  textWith(tail: string): string {
    if (this.#text === undefined || this.#tail !== tail) {
      this.#tail = tail
      this.#text = flat(`{"@ref":{"id":"${this.idText}"${tail}`)
    }
    return this.#text
  }

  /** The same for equal references, from 0 to 2^30 - 1; made once like the text. */
  get hash(): number {
    this.#hash ??= hashOfRef(this)
    return this.#hash
  }
}

function hashOfRef({ collection, database, id }: Ref): number {
  const lowBits = Number(BigInt.asUintN(32, id))
  const highBits = Number(BigInt.asUintN(32, id >> 32n))
  let hash = hashWord(hashWord(hashSeed, lowBits), highBits)
  hash = hashWord(hashWord(hash, collection), Number(BigInt.asUintN(32, database)))
  // Cut to what the runtime keeps as a small integer.
  return hash & 0x3fffffff
}

/** What an unresolved reference names. */
export type UnresolvedTarget =
  | {
      readonly type: SchemaKind
      readonly name: string
      /** The database in which it was looked for, when that was given. */
      readonly scope?: Ref | UnresolvedRef
    }
  | { readonly type: 'key'; readonly id: bigint; readonly scope: Ref | UnresolvedRef }
  | { readonly type: 'native'; readonly name: NativeName; readonly scope: UnresolvedRef }
  | { readonly type: 'document'; readonly id: bigint; readonly collection: UnresolvedRef }

/** A reference that names something that does not exist: a legal value until it is used. */
export class UnresolvedRef {
  readonly kind = 'unresolved'
  readonly target: UnresolvedTarget
  constructor(target: UnresolvedTarget) {
    this.target = target
  }
}

/**
 * A function as a value, closed (it has no free variables) and printable. `body` is wire JSON in canonical
 * form in which literals such as references may stand as values; the query layer parses it under `apiVersion`.
 */
export class Lambda {
  readonly kind = 'lambda'
  readonly apiVersion: string
  readonly parameters: string | readonly string[]
  readonly body: Value
  constructor(apiVersion: string, parameters: string | readonly string[], body: Value) {
    this.apiVersion = apiVersion
    this.parameters = parameters
    this.body = body
  }

  /** As one form of stored code (code.ts). */
  get language(): '4' {
    return '4'
  }
}

/** The time of the running transaction, known when it commits. */
export class TransactionTime {
  readonly kind = 'transaction time'
  /** Renders and stores as microseconds or as a time. */
  readonly unit: 'micros' | 'time'
  constructor(unit: 'micros' | 'time') {
    this.unit = unit
  }
  static readonly micros: TransactionTime = new TransactionTime('micros')
  static readonly time: TransactionTime = new TransactionTime('time')
}

/** What an event did. */
export type ActionName = 'create' | 'update' | 'delete' | 'add' | 'remove'

export type ObjectValue = ReadonlyMap<string, Value>

/** What references to documents of a database end with, by collection: under one state of its schema, for one version of clients. */
export type RefTails = Map<CollectionId, string>

/** Room for the text of something that is shown again and again and never changes. Filled in where it is shown. */
export class ShownText {
  /** JSON; undefined where it depends on more than what is shown and `tails`. */
  text: string | undefined
  /** What the text holds under, by identity; undefined before it was rendered. */
  tails: RefTails | undefined
  /** What rendering counts for, and how deep the value nests. */
  units = 0
  depth = 0
}

/** A version of a document that is shown again and again. */
export class ShownVersion extends ShownText {
  readonly fields: ObjectValue
  /**
   * What version 10 shows of the version in its formats, behind its id and its collection; null where that depends on more
   * than the version, undefined before it was rendered.
   */
  simple: string | null | undefined
  tagged: string | null | undefined

  constructor(fields: ObjectValue) {
    super()
    this.fields = fields
  }
}

/**
 * A value that exists only while a query runs, such as a page; the language that has it derives a class. It is stored, ordered and
 * used as an index term in an ordinary form.
 */
export abstract class Transient {
  abstract readonly kind: string

  /** The text that it equals, where it looks like one. */
  get word(): string | undefined {
    return undefined
  }

  /** That form, one level deep: what lies inside stays as it is until it is looked at in its turn. */
  abstract storedForm(): Value

  /** What makes it up: values of one kind are equal if and only if these are. */
  abstract parts(): readonly Value[]
}

/** One version of a document, as `get` and the writing functions return it. */
export class DocumentValue extends Transient {
  readonly kind = 'document'
  readonly ref: Ref
  readonly ts: Micros | TransactionTime
  /** The stored top-level fields that clients may see, in stored order; hidden ones are already gone. */
  readonly fields: ObjectValue
  /** Made by this query: as the whole result it means status 201. */
  readonly created: boolean
  /** Where its text is remembered. */
  readonly shown: ShownText | undefined
  constructor(
    ref: Ref,
    ts: Micros | TransactionTime,
    fields: ObjectValue,
    created = false,
    shown?: ShownText,
  ) {
    super()
    this.ref = ref
    this.ts = ts
    this.fields = fields
    this.created = created
    this.shown = shown
  }

  storedForm(): ObjectValue {
    const collection = collectionOf(this.ref)
    return new Map<string, Value>([
      ['ref', this.ref],
      ['class', collection],
      ['collection', collection],
      ['ts', instant(this.ts)],
      ...this.fields,
    ])
  }

  parts(): readonly Value[] {
    return [this.ref, this.ts, this.fields]
  }
}

/** The time of a version as a value: an integer of microseconds once it is certain. */
export function instant(ts: DocumentValue['ts']): bigint | TransactionTime {
  return typeof ts === 'number' ? BigInt(ts) : ts
}

export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Time
  | LocalDate
  | Uuid
  | Ref
  | UnresolvedRef
  | Lambda
  | TransactionTime
  | Transient
  | readonly Value[]
  | ObjectValue

/** A value of a class of its own that is no {@link Transient}. */
export type TaggedValue = Exclude<Extract<Value, { readonly kind: string }>, Transient>

/** JSON as it came over the wire, exact: integers are bigint, doubles are number, objects keep their order. */
export type Json = null | boolean | bigint | number | string | readonly Json[] | ReadonlyMap<string, Json>

/** Whether a value is an object. */
export function isObject(value: Value | undefined): value is ObjectValue {
  return value instanceof Map
}

/** Whether a value is an array. */
export function isArray(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value)
}

/** Whether a reference names a native collection. */
export function isNativeCollectionRef(value: Value): value is Ref & { readonly collection: 2 } {
  return value instanceof Ref && value.collection === native.collections && value.id < firstUserCollection
}

/** The reference to the collection (a native one too) that a document belongs to. */
export function collectionOf({ collection, database }: Pick<Ref, 'collection' | 'database'>): Ref {
  return new Ref(database, native.collections, BigInt(collection))
}

/** One thing or an array of things, as many fields of schema objects allow. */
export function itemsOf(value: Value | undefined): readonly Value[] {
  if (value === undefined || value === null) return []
  return isArray(value) ? value : [value]
}

/** Whether two references name the same thing. */
export function sameRef(left: Ref, right: Ref): boolean {
  return left.id === right.id && left.collection === right.collection && left.database === right.database
}
