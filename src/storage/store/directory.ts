// Finds the documents that authentication needs. Credentials and tokens are found by their instance (the document that
// logs in), access providers by their issuer, and keys by the id in a secret.

import { keyAfter } from '../../base/bytes.ts'
import { type DatabaseId, native, Ref, type Value } from '../../values/value.ts'
import { idAt } from '../keys/key-reader.ts'
import { builtinIndexes, indexLiveKey, indexTermsPrefix, keyHomeKey } from '../keys/keyspace.ts'
import { type KeyInterval, prefixRange } from '../keys/prefix.ts'
import { encodeTerms } from '../keys/terms.ts'
import { encodeTuple } from '../keys/tuple.ts'
import type { Bytes, KeyRange } from '../kv/kv-contract.ts'
import type { Journal, Overlay } from '../kv/overlay.ts'
import { entryDocument, entryTtl } from './entry-records.ts'
import { countRow, isExpired, read, type Snapshot } from './snapshot.ts'
import type { Directory, TokenScan, Transaction, Version } from './store-contract.ts'

export class StoreDirectory implements Directory {
  readonly #reader: Pick<Transaction, 'get'>
  readonly #snapshot: Snapshot

  constructor(reader: Pick<Transaction, 'get'>, snapshot: Snapshot) {
    this.#reader = reader
    this.#snapshot = snapshot
  }

  credentialOf(instance: Ref): Version | undefined {
    return this.#first(instance.database, builtinIndexes.credentialsByInstance, instance)
  }

  *tokensOf(instance: Ref, scan?: TokenScan): Generator<Version> {
    for (const ref of this.storedTokensOf(instance, scan)) {
      const token = this.#reader.get(ref)
      if (token !== undefined) yield token
    }
  }

  /** Like {@link tokensOf}, but includes revoked tokens that are not deleted yet (token-revocation.ts). */
  storedTokensOf(instance: Ref, { from, reverse = false }: TokenScan = {}): Generator<Ref> {
    const { end, start } = tokensRange(instance)
    const key = from === undefined ? undefined : tokenKey(instance, from)
    const range = reverse
      ? { start, end: key === undefined ? end : keyAfter(key) }
      : { start: key ?? start, end }
    return this.#inRange(instance.database, { ...range, reverse })
  }

  accessProviderByIssuer(database: DatabaseId, issuer: string): Version | undefined {
    return this.#first(database, builtinIndexes.providersByIssuer, issuer)
  }

  keyDatabases(keyId: bigint): readonly DatabaseId[] {
    return decodeHomes(read(this.#snapshot, keyHomeKey(keyId)))
  }

  credentialsOf(instance: Ref): readonly Ref[] {
    return [...this.#byTerm(instance.database, builtinIndexes.credentialsByInstance, instance)]
  }

  #first(database: DatabaseId, index: number, term: Value): Version | undefined {
    const [ref] = this.#byTerm(database, index, term)
    return ref && this.#reader.get(ref)
  }

  #byTerm(database: DatabaseId, index: number, term: Value): Generator<Ref> {
    return this.#inRange(database, entriesRange(database, index, term))
  }

  /** Skips expired documents. */
  *#inRange(database: DatabaseId, range: KeyRange): Generator<Ref> {
    const { counters, view } = this.#snapshot
    for (const row of view.range(range)) {
      counters.readBytes += row.value.length
      countRow()
      if (!isExpired(this.#snapshot, entryTtl(row))) yield entryDocument(database, row)
    }
  }
}

/** The range of the index entries with the tokens whose instance is the given document. */
export function tokensRange(instance: Ref): KeyInterval {
  return entriesRange(instance.database, builtinIndexes.tokensByInstance, instance)
}

/** The key of the index entry of the token with the id `token`. */
function tokenKey(instance: Ref, token: bigint): Uint8Array {
  const { database } = instance
  return indexLiveKey({
    database,
    index: builtinIndexes.tokensByInstance,
    terms: encodeTerms([instance]),
    values: encodeTuple([], []),
    document: new Ref(database, native.tokens, token),
  })
}

function entriesRange(database: DatabaseId, index: number, term: Value): KeyInterval {
  return prefixRange(indexTermsPrefix('live', database, index, encodeTerms([term])))
}

const idBytes = 8

/**
 * The homes of a key id: the databases that contain a key with this id. A secret contains only the id of its key, and
 * keys in several databases may have the same id, so a row for each key id lists its homes. The stored hash of the
 * secret shows which of these keys the secret belongs to. The result is in the order in which the keys were created;
 * empty if `stored` is undefined.
 */
export function decodeHomes(stored: Bytes | undefined): DatabaseId[] {
  if (stored === undefined) return []
  return Array.from({ length: stored.length / idBytes }, (_, at) => idAt(stored, at * idBytes))
}

function encodeHomes(databases: readonly DatabaseId[]): Uint8Array {
  const bytes = new Uint8Array(databases.length * idBytes)
  const view = new DataView(bytes.buffer)
  for (const [at, database] of databases.entries()) view.setBigUint64(at * idBytes, database)
  return bytes
}

export function addHome(overlay: Overlay, key: Ref, journal?: Journal): void {
  const homes = decodeHomes(overlay.get(keyHomeKey(key.id)))
  if (homes.includes(key.database)) return
  overlay.set(keyHomeKey(key.id), encodeHomes([...homes, key.database]), journal)
}

export function removeHome(overlay: Overlay, key: Ref, journal?: Journal): void {
  const homes = decodeHomes(overlay.get(keyHomeKey(key.id)))
  const rest = homes.filter(database => database !== key.database)
  if (rest.length === homes.length) return
  overlay.set(keyHomeKey(key.id), rest.length === 0 ? undefined : encodeHomes(rest), journal)
}
