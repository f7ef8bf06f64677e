// Defines the values of FQL, which are immutable. Integers are `bigint` (64 bits, wrapped by the arithmetic functions)
// and doubles are `number`, so `1` and `1.0` stay distinct. Objects are `Map`s, because the insertion order of all keys
// matters, and plain objects would move keys that look like integers to the front.

import { hashSeed, hashWord } from '../base/bytes.ts'
import type { Micros } from '../base/micros.ts'
import { flat } from './json-text.ts'

export type { Micros } from '../base/micros.ts'

/** Permanent: survives renames and moves of the database. The root database is {@link rootDatabase}. */
export type DatabaseId = bigint

/** Unique within a database: native collections below 1024, user collections from 1024. */
export type CollectionId = number

/** Contains all other databases. */
export const rootDatabase: DatabaseId = 0n

/** The numbers of the native (built-in) collections. Never change these numbers, because stored keys contain them. */
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

/**
 * Internal collections, which no language exposes: the files of schemas, and revocations of tokens. Never change these
 * numbers, because stored keys contain them.
 */
export const unlisted = {
  /** The files of the active schema. */
  schema_files: 10,
  /** The files of the staged schema, and the record that a staged schema exists. */
  staged_schema: 11,
  /** The text of the GraphQL schema. */
  graphql_schema: 12,
  /** The times at which all tokens of an identity became invalid. The id of a document is the id of the identity. */
  token_revocations: 13,
} as const

export type NativeName = keyof typeof native

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

/** Returns undefined for a user collection. */
export function nativeName(collection: CollectionId): NativeName | undefined {
  return nativeNames.get(collection)
}

/** `classes` is the older spelling of `collections`. */
export function nativeNamed(name: string): NativeName | undefined {
  if (name === 'classes') return 'collections'
  return Object.hasOwn(native, name) ? (name as NativeName) : undefined
}

export const firstUserCollection: CollectionId = 1024

/** `seconds` since the epoch may be negative; 0 <= nanos < 1e9. */
export class Time {
  readonly kind = 'time'
  readonly seconds: bigint
  readonly nanos: number
  constructor(seconds: bigint, nanos: number) {
    this.seconds = seconds
    this.nanos = nanos
  }
}

/** Days since 1970-01-01. */
export class LocalDate {
  readonly kind = 'date'
  readonly epochDay: number
  constructor(epochDay: number) {
    this.epochDay = epochDay
  }
}

/** Canonical lower-case text. */
export class Uuid {
  readonly kind = 'uuid'
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/**
 * References to schema objects contain internal numbers, so existing references show the new name after a rename. A
 * reference to a collection has the collection `native.collections`, and its id is the number of the referenced
 * collection.
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

  /** Decimal; cached, because references in cached entries and documents are rendered repeatedly. */
  get idText(): string {
    this.#idText ??= String(this.id)
    return this.#idText
  }

  /** The JSON of the reference: its id, followed by `tail`. The text for the last tail is cached. */
  textWith(tail: string): string {
    if (this.#text === undefined || this.#tail !== tail) {
      this.#tail = tail
      this.#text = flat(`{"@ref":{"id":"${this.idText}"${tail}`)
    }
    return this.#text
  }

  /** A number from 0 to 2^30 - 1, equal for equal references; cached. */
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
  // The runtime stores numbers in this range as small integers.
  return hash & 0x3fffffff
}

export type UnresolvedTarget =
  | {
      readonly type: SchemaKind
      readonly name: string
      /** The database in which the name was looked up. Undefined if the query named no database. */
      readonly scope?: Ref | UnresolvedRef
    }
  | { readonly type: 'key'; readonly id: bigint; readonly scope: Ref | UnresolvedRef }
  | { readonly type: 'native'; readonly name: NativeName; readonly scope: UnresolvedRef }
  | { readonly type: 'document'; readonly id: bigint; readonly collection: UnresolvedRef }

/**
 * In queries: refers to a missing schema object, or to a document in a missing collection. The reference is a valid
 * value, but a function that needs its document fails. In imports: a reference by name that has not been looked up yet.
 */
export class UnresolvedRef {
  readonly kind = 'unresolved'
  readonly target: UnresolvedTarget
  constructor(target: UnresolvedTarget) {
    this.target = target
  }
}

/**
 * A closed function (it has no free variables) that can be printed. `body` is the expression in the JSON of the wire
 * protocol, in canonical form, with values, such as references, in place of the JSON of literals. Version 4 of FQL
 * parses `body` by the rules of `apiVersion`.
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

  /** A lambda that is stored as code (code.ts) is code of version 4. */
  get language(): '4' {
    return '4'
  }
}

/** Stands for the time of the running transaction, which is unknown until the transaction commits. */
export class TransactionTime {
  readonly kind = 'transaction time'
  /** The form in which the time is rendered and stored. */
  readonly unit: 'micros' | 'time'
  constructor(unit: 'micros' | 'time') {
    this.unit = unit
  }
  static readonly micros: TransactionTime = new TransactionTime('micros')
  static readonly time: TransactionTime = new TransactionTime('time')
}

export type ActionName = 'create' | 'update' | 'delete' | 'add' | 'remove'

export type ObjectValue = ReadonlyMap<string, Value>

/**
 * For each collection of a database, the end of the JSON of every reference to a document in this collection; valid for
 * one state of the schema and one API version.
 */
export type RefTails = Map<CollectionId, string>

/** The rendered text of a document version that is rendered repeatedly. The renderer fills the cache. */
export class RenderCache {
  readonly fields: ObjectValue
  /** Undefined if the text also depends on other data than the version and `tails`. */
  text: string | undefined
  /** The tails of the text, compared by identity; undefined before the first rendering. */
  tails: RefTails | undefined
  /** The rendering cost of the text, and the nesting depth of the document. */
  units = 0
  depth = 0

  constructor(fields: ObjectValue) {
    this.fields = fields
  }
}

/**
 * A value that exists only while a query runs, such as a page. Each language derives classes. Storage, ordering and
 * index terms use the ordinary form ({@link Transient.storedForm}).
 */
export abstract class Transient {
  abstract readonly kind: string

  /** The string that is equal to this value, such as the name of an action, or undefined if no string is equal. */
  get word(): string | undefined {
    return undefined
  }

  /** Converts only the outermost level, so the inner values may be transient. */
  abstract storedForm(): Value

  /** Values of one kind are equal if and only if their components are equal. */
  abstract parts(): readonly Value[]
}

/** A version of a document, as `get` and the functions that write documents return it. */
export class DocumentValue extends Transient {
  readonly kind = 'document'
  readonly ref: Ref
  readonly ts: Micros | TransactionTime
  /** The top-level fields in stored order, without hidden fields. */
  readonly fields: ObjectValue
  /** True if this query created the document. If such a document is the whole result, the response has status 201. */
  readonly created: boolean
  /** The cache for the rendered text of the version; undefined if the text is not cached. */
  readonly renderCache: RenderCache | undefined
  constructor(
    ref: Ref,
    ts: Micros | TransactionTime,
    fields: ObjectValue,
    created = false,
    renderCache?: RenderCache,
  ) {
    super()
    this.ref = ref
    this.ts = ts
    this.fields = fields
    this.created = created
    this.renderCache = renderCache
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

/** Converts a known time to an integer of microseconds. Returns the placeholder for an unknown time unchanged. */
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

export type TaggedValue = Exclude<Extract<Value, { readonly kind: string }>, Transient>

/** Exact JSON from the wire: integers are bigint, doubles are number, objects keep their order. */
export type Json = null | boolean | bigint | number | string | readonly Json[] | ReadonlyMap<string, Json>

export function isObject(value: Value | undefined): value is ObjectValue {
  return value instanceof Map
}

export function isArray(value: Value | undefined): value is readonly Value[] {
  return Array.isArray(value)
}

export function isNativeCollectionRef(value: Value): value is Ref & { readonly collection: 2 } {
  return value instanceof Ref && value.collection === native.collections && value.id < firstUserCollection
}

/** Returns the collection of a document. The collection may be native. */
export function collectionOf({ collection, database }: Pick<Ref, 'collection' | 'database'>): Ref {
  return new Ref(database, native.collections, BigInt(collection))
}

/** Returns the items of a field of a schema object that may contain one item or an array. */
export function itemsOf(value: Value | undefined): readonly Value[] {
  if (value === undefined || value === null) return []
  return isArray(value) ? value : [value]
}

export function sameRef(left: Ref, right: Ref): boolean {
  return left.id === right.id && left.collection === right.collection && left.database === right.database
}

/** Returns a text that identifies a document among the documents of all databases. */
export function refKey({ collection, database, id }: Ref): string {
  return `${database}/${collection}/${id}`
}

/** The range of integers in FQL. */
export const int64Min: bigint = -(2n ** 63n)
export const int64Max: bigint = 2n ** 63n - 1n
