// Finds the documents that authentication needs: by their instance, by an issuer, or by the id in a secret.

import type { DatabaseId, Ref, Value } from '../../values/value.ts'
import { builtinIndexes, indexTermsPrefix, keyHomeKey } from '../keys/keyspace.ts'
import { prefixRange } from '../keys/prefix.ts'
import { encodeTerms } from '../keys/terms.ts'
import type { Directory, Transaction, Version } from './contract.ts'
import { entryDocument, entryTtl } from './entry-records.ts'
import { decodeHomes } from './key-homes.ts'
import { isExpired, read, type Snapshot } from './snapshot.ts'

/** The directory from the view of one transaction. */
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

  tokensOf(instance: Ref): readonly Version[] {
    const tokens: Version[] = []
    for (const ref of this.#byTerm(instance.database, builtinIndexes.tokensByInstance, instance)) {
      const token = this.#reader.get(ref)
      if (token !== undefined) tokens.push(token)
    }
    return tokens
  }

  accessProviderByIssuer(database: DatabaseId, issuer: string): Version | undefined {
    return this.#first(database, builtinIndexes.providersByIssuer, issuer)
  }

  keyDatabases(keyId: bigint): readonly DatabaseId[] {
    return decodeHomes(read(this.#snapshot, keyHomeKey(keyId)))
  }

  /** The tokens and credentials of a document. */
  loginsOf(instance: Ref): readonly Ref[] {
    return [
      ...this.#byTerm(instance.database, builtinIndexes.tokensByInstance, instance),
      ...this.#byTerm(instance.database, builtinIndexes.credentialsByInstance, instance),
    ]
  }

  #first(database: DatabaseId, index: number, term: Value): Version | undefined {
    for (const ref of this.#byTerm(database, index, term)) return this.#reader.get(ref)
    return undefined
  }

  /** Unexpired entries of a built-in index, by document. */
  *#byTerm(database: DatabaseId, index: number, term: Value): Generator<Ref> {
    const { counters, view } = this.#snapshot
    const prefix = indexTermsPrefix('live', database, index, encodeTerms([term]))
    for (const row of view.range(prefixRange(prefix))) {
      counters.readBytes += row.value.length
      if (!isExpired(this.#snapshot, entryTtl(row))) yield entryDocument(database, row)
    }
  }
}
