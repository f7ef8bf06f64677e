// The names of a database's schema objects (collections, indexes, functions …) over time, from the versions of the
// schema objects, which are retained forever and never rewritten. Bindings (computed fields) of indexes may look up
// names. When the entries of an old version are computed again, the bindings use this history.

import { endOfTime } from '../../base/micros.ts'
import { upsert } from '../../base/upsert.ts'
import {
  type CollectionId,
  type DatabaseId,
  type Micros,
  namedNatives,
  native,
  type Ref,
  TransactionTime,
} from '../../values/value.ts'
import { everyDocument, storedVersionsAscending } from './documents.ts'
import { decodeVersion } from './records.ts'
import type { Snapshot } from './snapshot.ts'
import type { NameLookup, Version } from './store-contract.ts'

/** The period in which the object `ref` had a name. */
interface Tenure {
  readonly ref: Ref
  readonly since: Micros
  /** The time at which the object was renamed or deleted; the end of time if the object still has the name. */
  until: Micros
}

/** Child databases are excluded: there may be very many, and bindings cannot access their data. */
const kinds = [...namedNatives].filter(kind => kind !== native.databases)

/** A cached history is valid while the schema is unchanged. */
export interface NameHistories {
  nameHistory(database: DatabaseId): NameHistory
}

export class NameHistory {
  readonly #tenures = new Map<string, Tenure[]>()
  /** The objects by their last names, the oldest object first. */
  readonly #holders = new Map<string, Ref[]>()
  readonly #indexTimes = new Map<bigint, Micros>()

  /** Ignores the writes of the transaction that uses the snapshot. */
  constructor(snapshot: Snapshot, database: DatabaseId, ofKinds: readonly CollectionId[] = kinds) {
    for (const kind of ofKinds)
      for (const ref of everyDocument(snapshot, database, kind)) this.#add(snapshot, ref)
  }

  get size(): number {
    return this.#tenures.size
  }

  #add(snapshot: Snapshot, ref: Ref): void {
    const { commitTime = endOfTime } = snapshot
    let name: unknown
    let lastName: string | undefined
    let tenure: Tenure | undefined
    for (const stored of storedVersionsAscending(snapshot, ref)) {
      const { fields, ts } = decodeVersion(ref, stored)
      if (ts >= commitTime) break
      if (ref.collection === native.indexes && !this.#indexTimes.has(ref.id)) this.#indexTimes.set(ref.id, ts)
      if (fields.get('name') === name) continue
      if (tenure) tenure.until = ts
      name = fields.get('name')
      tenure = typeof name === 'string' ? this.#begin(name, ref, ts) : undefined
      if (typeof name === 'string') lastName = name
    }
    if (lastName !== undefined) upsert(this.#holders, `${ref.collection} ${lastName}`, () => []).push(ref)
  }

  #begin(name: string, ref: Ref, since: Micros): Tenure {
    const tenure = { ref, since, until: endOfTime }
    upsert(this.#tenures, `${ref.collection} ${name}`, () => []).push(tenure)
    return tenure
  }

  /** Live and deleted objects whose last name is `name`, the newest object first. */
  holders(kind: CollectionId, name: string): readonly Ref[] {
    return (this.#holders.get(`${kind} ${name}`) ?? []).toReversed()
  }

  /**
   * Names in a binding of `index` resolve as of `ts`, when the version was written, or as of the creation of the index
   * if it is newer.
   */
  lookupFor(index: Ref, ts: Version['ts']): NameLookup {
    // An index without a time is created by the current transaction.
    const created = this.#indexTimes.get(index.id)
    const before = created === undefined || ts instanceof TransactionTime ? endOfTime : Math.max(ts, created)
    return (kind, name) => {
      const tenures = this.#tenures.get(`${kind} ${name}`)
      return tenures?.find(({ since, until }) => since < before && until >= before)?.ref
    }
  }
}
