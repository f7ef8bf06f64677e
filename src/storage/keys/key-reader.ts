// Decodes keys. Reads of documents need at most the document's id from a key. Background work, the integrity check and
// the key printer (printer.ts) need all parts of a key.

import { assert, InvariantError } from '../../base/assert.ts'
import { micros } from '../../base/micros.ts'
import { type CollectionId, type DatabaseId, type Micros, Ref, type Value } from '../../values/value.ts'
import { collectionPrefixLength, indexPrefixLength, timeLength, timeOffset } from './key-times.ts'
import { type DocumentId, type GarbageKind, garbageKinds, keyTags } from './keyspace.ts'
import { termsLength } from './terms.ts'
import { valueReader } from './value-reader.ts'

/** Parts of the three kinds of index keys: of live entries, of ended entries, and of events. */
export interface EntryKey {
  readonly database: DatabaseId
  readonly index: number
  /** Undefined if the terms are long, so that the key contains only their hash. */
  readonly terms: readonly Value[] | undefined
  readonly termsBytes: Uint8Array
  /** The values as encoded by order-codec.ts: the order of the bytes is the order of the values. */
  readonly values: Uint8Array
  /** The tie-break between values that are equal in the order (tuple.ts). */
  readonly tie: Uint8Array
  readonly document: DocumentId
}

type Key =
  | { readonly kind: 'document'; readonly ref: Ref }
  | { readonly kind: 'history'; readonly ref: Ref; readonly ts: Micros }
  | { readonly kind: 'expiry'; readonly ref: Ref; readonly ts: Micros }
  | ({ readonly kind: 'indexLive' } & EntryKey)
  | ({ readonly kind: 'indexEnded'; readonly removedTs: Micros } & EntryKey)
  | ({ readonly kind: 'indexEvent'; readonly ts: Micros; readonly action: 'add' | 'remove' } & EntryKey)
  | { readonly kind: 'schemaVersion'; readonly database: DatabaseId }
  | { readonly kind: 'counter'; readonly database: DatabaseId; readonly collection: CollectionId }
  | { readonly kind: 'keyHome'; readonly keyId: bigint }
  | { readonly kind: 'changes'; readonly ts: Micros; readonly sequence: number }
  | {
      readonly kind: 'collectionChanges'
      readonly database: DatabaseId
      readonly collection: CollectionId
      readonly ts: Micros
      readonly sequence: number
    }
  | { readonly kind: 'meta'; readonly name: string }
  | { readonly kind: 'control'; readonly rest: Uint8Array }
  | { readonly kind: 'garbage'; readonly work: GarbageKind; readonly due: Micros; readonly target: Ref }
  | { readonly kind: 'build'; readonly database: DatabaseId; readonly index: number }

/** Throws an InvariantError if `bytes` are not a key. */
export function decodeKey(bytes: Uint8Array): Key {
  const parts = new KeyParts(bytes)
  const key = readKey(parts)
  parts.finish()
  return key
}

const kindsByTag = new Map<number, Key['kind']>(
  Object.entries(keyTags).map(([kind, tag]) => [tag, kind as Key['kind']]),
)
const garbageKindsByNumber = new Map<number, GarbageKind>(
  Object.entries(garbageKinds).map(([work, tag]) => [tag, work as GarbageKind]),
)

function readKey(parts: KeyParts): Key {
  const kind = kindsByTag.get(parts.number(1))
  switch (kind) {
    case 'document':
      return { kind, ref: parts.ref() }
    case 'history':
      return { kind, ref: parts.ref(), ts: parts.timeDescending() }
    case 'expiry': {
      const [database, collection, ts] = [parts.id(), parts.number(2), parts.time()]
      return { kind, ref: new Ref(database, collection, parts.signedId()), ts }
    }
    case 'indexLive':
      return { kind, ...readEntry(parts, 0) }
    case 'indexEnded': {
      const entry = readEntry(parts, timeLength)
      return { kind, ...entry, removedTs: parts.timeDescending() }
    }
    case 'indexEvent':
      return readEvent(parts)
    case 'schemaVersion':
      return { kind, database: parts.id() }
    case 'counter':
      return { kind, database: parts.id(), collection: parts.number(2) }
    case 'keyHome':
      return { kind, keyId: parts.signedId() }
    case 'changes':
      return { kind, ts: parts.time(), sequence: parts.number(4) }
    case 'collectionChanges': {
      const ids = { database: parts.id(), collection: parts.number(2) }
      return { kind, ...ids, ts: parts.time(), sequence: parts.number(4) }
    }
    case 'meta':
      return { kind, name: new TextDecoder().decode(parts.upTo(0)) }
    case 'control':
      return { kind, rest: parts.upTo(0) }
    case 'garbage': {
      const work = garbageKindsByNumber.get(parts.number(1))
      assert(work !== undefined, 'the work in a key is of a known kind')
      return { kind, work, due: parts.time(), target: parts.ref() }
    }
    case 'build':
      return { kind, database: parts.id(), index: parts.number(4) }
    case undefined:
      throw new InvariantError('a key has a known first byte')
  }
}

/** Number of bytes for the document's id and collection in the key of an index entry. */
export const entryDocumentBytes = 10

const idBytes = new Uint8Array(8)
const idView = new DataView(idBytes.buffer)

/**
 * The unsigned number in the 8 bytes from `at` on. Copies the bytes to one shared DataView, because creating a DataView
 * for each row is slower.
 */
export function idAt(bytes: Uint8Array, at: number): bigint {
  assert(bytes.length >= at + 8, 'an id has 8 bytes')
  for (let index = 0; index < 8; index++) idBytes[index] = bytes[at + index] as number
  return idView.getBigUint64(0)
}

/** `key` belongs to a document or a version. */
export function documentIdOf(key: Uint8Array): bigint {
  assert(key.length >= collectionPrefixLength + 8, 'a key does not end too early')
  return idAt(key, collectionPrefixLength)
}

export function documentOf(key: Uint8Array): Ref {
  const decoded = decodeKey(key)
  assert(decoded.kind === 'document' || decoded.kind === 'history', 'a version key contains a document')
  return decoded.ref
}

/** The offset of the document's id and collection in the key of an index entry. */
export function entryDocumentOffset(key: Uint8Array): number {
  const time = timeOffset(key)
  // The keys of events contain a time and an action before the document.
  if (key[0] === keyTags.indexEvent) return (time as number) + timeLength + 1
  const end = time ?? key.length
  const offset = end - 1 - (key[end - 1] as number) - entryDocumentBytes
  assert(offset > indexPrefixLength, 'a key does not end too early')
  return offset
}

/** Throws an InvariantError for a key of another kind. */
export function decodeKeyOf<K extends Key['kind']>(kind: K, bytes: Uint8Array): Extract<Key, { kind: K }> {
  const key = decodeKey(bytes)
  assert(key.kind === kind, 'a key is of the kind that its table holds')
  return key as Extract<Key, { kind: K }>
}

/** `trailingBytes`: the number of bytes of the key after the entry. */
function readEntry(parts: KeyParts, trailingBytes: number): EntryKey {
  const start = readIndexAndTerms(parts)
  const tieBytes = parts.tieLength(trailingBytes)
  const values = parts.upTo(trailingBytes + entryDocumentBytes + tieBytes)
  const document = { id: parts.signedId(), collection: parts.number(2) }
  return { ...start, values, tie: parts.upTo(trailingBytes), document }
}

function readEvent(parts: KeyParts): Key {
  const start = readIndexAndTerms(parts)
  const ts = parts.time()
  const action = parts.number(1) === 1 ? 'add' : 'remove'
  const document = { id: parts.signedId(), collection: parts.number(2) }
  const values = parts.upTo(parts.tieLength(0))
  return { kind: 'indexEvent', ...start, values, tie: parts.upTo(0), document, ts, action }
}

function readIndexAndTerms(parts: KeyParts): Pick<EntryKey, 'database' | 'index' | 'terms' | 'termsBytes'> {
  const database = parts.id()
  const index = parts.number(4)
  const termsBytes = parts.terms()
  const hashed = termsBytes[0] === 0xff
  const terms = hashed ? undefined : valueReader.readSequence(termsBytes, 1, termsBytes.length)
  return { database, index, terms, termsBytes }
}

/** Reads from front to back. */
class KeyParts {
  readonly #bytes: Uint8Array
  readonly #view: DataView
  #offset = 0

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  }

  number(size: 1 | 2 | 4): number {
    const start = this.#take(size)
    if (size === 1) return this.#view.getUint8(start)
    return size === 2 ? this.#view.getUint16(start) : this.#view.getUint32(start)
  }

  id(): bigint {
    return this.#view.getBigUint64(this.#take(8))
  }

  signedId(): bigint {
    return this.#view.getBigInt64(this.#take(8))
  }

  ref(): Ref {
    const database = this.id()
    const collection = this.number(2)
    return new Ref(database, collection, this.signedId())
  }

  time(): Micros {
    return micros(Number(BigInt.asIntN(64, this.id() ^ (1n << 63n))))
  }

  timeDescending(): Micros {
    return micros(Number(BigInt.asIntN(64, ~this.id() ^ (1n << 63n))))
  }

  terms(): Uint8Array {
    assert(this.#offset < this.#bytes.length, 'a key does not end too early')
    const length = termsLength(this.#bytes, this.#offset)
    const start = this.#take(length)
    return this.#bytes.subarray(start, start + length)
  }

  /**
   * The length of the tie-break (tuple.ts). The last byte of the tie-break contains the number of its other bytes, and
   * `trailingBytes` bytes of the key follow.
   */
  tieLength(trailingBytes: number): number {
    const last = this.#bytes[this.#bytes.length - trailingBytes - 1]
    assert(last !== undefined, 'a key does not end too early')
    return last + 1
  }

  /** Reads up to `trailingBytes` bytes before the end of the key. */
  upTo(trailingBytes: number): Uint8Array {
    const end = this.#bytes.length - trailingBytes
    assert(end >= this.#offset, 'a key does not end too early')
    const start = this.#offset
    this.#offset = end
    return this.#bytes.subarray(start, end)
  }

  finish(): void {
    assert(this.#offset === this.#bytes.length, 'nothing follows a key')
  }

  #take(count: number): number {
    const start = this.#offset
    assert(start + count <= this.#bytes.length, 'a key does not end too early')
    this.#offset = start + count
    return start
  }
}
