// Values of version 10 without a JavaScript type. Each value is an immutable object with the text from the service, so
// that the client can send the value back unchanged. A JavaScript `Date`, for example, would lose the nanoseconds of a
// time.

class TextValue {
  readonly text: string

  /** `text` is sent as it is; the service rejects invalid values. */
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

/** A point in time with up to nanosecond precision, as ISO 8601 text with an offset. */
export class Time extends TextValue {
  /** The time of a `Date`, which has a precision of milliseconds. Throws a `RangeError` for an invalid `Date`. */
  static fromDate(date: Date): Time {
    return new Time(date.toISOString())
  }

  static now(): Time {
    return Time.fromDate(new Date())
  }

  /** The time as a `Date`, truncated to milliseconds. */
  toDate(): Date {
    return new Date(this.text)
  }
}

/** A calendar day without a time zone, as `yyyy-mm-dd`. The service calls this type Date. */
export class LocalDate extends TextValue {
  /** The day of a `Date` in UTC. Throws a `RangeError` for an invalid `Date`. */
  static fromDate(date: Date): LocalDate {
    return new LocalDate(date.toISOString().slice(0, -'T00:00:00.000Z'.length))
  }

  /** Midnight of the day in UTC. */
  toDate(): Date {
    return new Date(`${this.text}T00:00:00Z`)
  }
}

/** A UUID. Documents of version 4 may contain UUIDs. The client can receive UUIDs but not send them. */
export class Uuid extends TextValue {}

/**
 * A number that is sent as a Double even if it is an integer: `new Double(2)` is 2.0. A received Double is a plain
 * number.
 */
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
 * A received Long: a `number` if a `number` can represent the value exactly, a `bigint` for all other values. The
 * client sends an integer number as Int or Long, and a `bigint` as Long.
 */
export type Long = number | bigint

/** A module or collection by name, such as `Math` or `Product`. */
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

/** A reference to a document by id. Documents inside documents are received as references. */
export class DocumentRef<Doc = Document> {
  /** Exists only as a type: the referenced document. */
  declare readonly document?: Doc
  readonly coll: Module
  readonly id: string

  constructor(coll: Module | string, id: string) {
    this.coll = moduleOf(coll)
    this.id = id
  }
}

/** A reference to a schema object by name, such as a collection, function or role. */
export class NamedRef {
  readonly coll: Module
  readonly name: string

  constructor(coll: Module | string, name: string) {
    this.coll = moduleOf(coll)
    this.name = name
  }
}

/** A received document: its metadata, and its fields as further properties ({@link DocumentOf}). */
export class Document {
  declare readonly id: string
  declare readonly coll: Module
  /** Time of the last write. */
  declare readonly ts: Time
  /** Time of expiry, if the document expires. */
  declare readonly ttl?: Time
}

/** A document with additional fields. */
export type DocumentOf<Fields> = Document & Readonly<Fields>

/** A received schema object: its metadata, and its fields as further properties. */
export class NamedDocument {
  declare readonly name: string
  declare readonly coll: Module
  declare readonly ts: Time
}

/** The reason why a document is missing. */
export type NullCause = 'not found' | 'deleted' | 'permission denied' | 'collection deleted'

/** A document that does not exist, or that the client has no permission to read. */
export class NullDocument {
  readonly ref: DocumentRef | NamedRef
  readonly cause: NullCause | string

  constructor(ref: DocumentRef | NamedRef, cause: string) {
    this.ref = ref
    this.cause = cause
  }
}

/** The first page of a set, with the cursor of the next page. `Client.pages` and `Client.items` read further pages. */
export class Page<Item = unknown> {
  readonly data: readonly Item[]
  /** The cursor of the next page; undefined on the last page. */
  readonly after: string | undefined

  constructor(data: readonly Item[], after?: string) {
    this.data = data
    this.after = after
  }
}

/**
 * An element of a page that a client has read with a cursor. A document may have been deleted since the first page was
 * read.
 */
export type ElementOf<Item> = Item extends Document ? Item | NullDocument : Item

/**
 * An event source, as `eventSource()` of a set returns it, for the methods `feed`, `follow` and `stream` of a client.
 */
export class EventSourceToken<Item = unknown> {
  readonly token: string
  /** Exists only as a type: the data of the events. */
  declare readonly item?: Item

  constructor(token: string) {
    this.token = token
  }

  toString(): string {
    return this.token
  }
}

/** The fields of a document without `id`, `coll`, `ts` and `ttl`, for example to display or copy them. */
export function fieldsOf<Doc extends Document>(document: Doc): Omit<Doc, keyof Document> {
  const { id: _id, coll: _coll, ts: _ts, ttl: _ttl, ...fields } = document
  return fields
}
