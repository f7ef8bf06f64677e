// Values of version 10 that JavaScript has no type for. Each is an immutable object whose text form is that of the service, so that
// a value that was read can be sent back unchanged: a JavaScript `Date`, for one, would lose the nanoseconds of a time.

/** A moment with up to nanoseconds, as ISO 8601 text with an offset. */
export class Time {
  readonly text: string

  /** `text` is sent as it is; the service rejects what is no time. */
  constructor(text: string) {
    this.text = text
  }

  /** The same moment in milliseconds. Throws a `RangeError` for an invalid `Date`. */
  static fromDate(date: Date): Time {
    return new Time(date.toISOString())
  }

  static now(): Time {
    return Time.fromDate(new Date())
  }

  /** The moment as a `Date`, which cuts it to milliseconds. */
  toDate(): Date {
    return new Date(this.text)
  }

  toString(): string {
    return this.text
  }

  toJSON(): string {
    return this.text
  }
}

/** A day of the calendar without a time zone, as `yyyy-mm-dd`. The service calls it Date. */
export class LocalDate {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  /** The day of a moment in UTC. Throws a `RangeError` for an invalid `Date`. */
  static fromDate(date: Date): LocalDate {
    return new LocalDate(date.toISOString().slice(0, -'T00:00:00.000Z'.length))
  }

  /** Midnight of the day in UTC. */
  toDate(): Date {
    return new Date(`${this.text}T00:00:00Z`)
  }

  toString(): string {
    return this.text
  }

  toJSON(): string {
    return this.text
  }
}

/** A UUID, which documents of version 4 may hold. It can be read, and not be sent. */
export class Uuid {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }

  toString(): string {
    return this.text
  }

  toJSON(): string {
    return this.text
  }
}

/** A number to be sent as a Double even where it is whole: `new Double(2)` is 2.0. What is read is a plain number. */
export class Double {
  readonly value: number

  constructor(value: number) {
    this.value = value
  }

  valueOf(): number {
    return this.value
  }

  toJSON(): number {
    return this.value
  }
}

/**
 * What a Long is read as: a number where that is exact, else a `bigint`. Integers of 32 bits are always numbers. Both can be
 * sent: whole numbers as Int or Long, a `bigint` as Long.
 */
export type Long = number | bigint

/** A module or collection by its name, such as `Math` or `Product`. */
export class Module {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }

  toString(): string {
    return this.name
  }
}

const moduleOf = (coll: Module | string): Module => (typeof coll === 'string' ? new Module(coll) : coll)

/** A reference to a document by its id. Documents inside documents are read as references. */
export class DocumentRef<Doc = Document> {
  /** Only a type: the document that it leads to. */
  declare readonly document?: Doc
  readonly coll: Module
  readonly id: string

  constructor(coll: Module | string, id: string) {
    this.coll = moduleOf(coll)
    this.id = id
  }
}

/** A reference to a schema object by its name, such as a collection, function or role. */
export class NamedRef {
  readonly coll: Module
  readonly name: string

  constructor(coll: Module | string, name: string) {
    this.coll = moduleOf(coll)
    this.name = name
  }
}

/** A document that was read: its metadata, and its fields as further properties ({@link DocumentOf}). */
export class Document {
  declare readonly id: string
  declare readonly coll: Module
  /** When it was last written. */
  declare readonly ts: Time
  /** When it expires, if it does. */
  declare readonly ttl?: Time
}

/** A document with fields of its own. */
export type DocumentOf<Fields> = Document & Readonly<Fields>

/** A schema object that was read: its metadata, and its fields as further properties. */
export class NamedDocument {
  declare readonly name: string
  declare readonly coll: Module
  declare readonly ts: Time
}

/** Why a document is missing. */
export type NullCause = 'not found' | 'deleted' | 'permission denied' | 'collection deleted'

/** A document that a query led to and that does not exist, or that the secret may not read. */
export class NullDocument {
  readonly ref: DocumentRef | NamedRef
  readonly cause: NullCause | string

  constructor(ref: DocumentRef | NamedRef, cause: string) {
    this.ref = ref
    this.cause = cause
  }
}

/** The first page of a set, and where the next one begins. `Client.pages` and `Client.items` read on. */
export class Page<Item = unknown> {
  readonly data: readonly Item[]
  /** The cursor of the next page; undefined on the last. */
  readonly after: string | undefined

  constructor(data: readonly Item[], after?: string) {
    this.data = data
    this.after = after
  }
}

/** The source of changes that `eventSource()` of a set returns: what feeds and streams are opened with. */
export class EventSourceToken<Item = unknown> {
  readonly token: string
  /** Only a type: what the events carry. */
  declare readonly item?: Item

  constructor(token: string) {
    this.token = token
  }

  toString(): string {
    return this.token
  }
}

/** The fields of a document without `id`, `coll`, `ts` and `ttl`, such as to show or to copy them. */
export function fieldsOf<Doc extends Document>(document: Doc): Omit<Doc, keyof Document> {
  const { id: _id, coll: _coll, ts: _ts, ttl: _ttl, ...fields } = document
  return fields
}
