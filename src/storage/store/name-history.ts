// The names of a database's schema objects over time. They are read from the versions of the objects, which are
// retained forever and never rewritten. Entries whose bindings look up names are computed again from this history, long
// afterwards.

import { endOfTime } from '../../base/micros.ts'
import {
  type CollectionId,
  type DatabaseId,
  type Micros,
  namedNatives,
  native,
  type Ref,
} from '../../values/value.ts'
import { everyDocument, storedVersionsAscending } from './documents.ts'
import { decodeVersion } from './records.ts'
import type { Snapshot } from './snapshot.ts'

/** The time for which one object had a name. */
interface Tenure {
  readonly ref: Ref
  readonly since: Micros
  /** When it was renamed or deleted. */
  until: Micros
}

/** Databases are excluded: there may be very many, and bindings cannot access their content. */
const kinds = [...namedNatives].filter(kind => kind !== native.databases)

/** The cache of the histories, valid while the schema is unchanged. */
export interface NameHistories {
  nameHistory(database: DatabaseId): NameHistory
}

export class NameHistory {
  readonly #tenures = new Map<string, Tenure[]>()
  readonly #indexTimes = new Map<bigint, Micros>()

  /** All names up to a snapshot, without the writes of its own transaction. */
  constructor(snapshot: Snapshot, database: DatabaseId) {
    for (const kind of kinds)
      for (const ref of everyDocument(snapshot, database, kind)) this.#add(snapshot, ref)
  }

  /** Number of names. */
  get size(): number {
    return this.#tenures.size
  }

  #add(snapshot: Snapshot, ref: Ref): void {
    const { commitTime = endOfTime } = snapshot
    let name: unknown
    let tenure: Tenure | undefined
    for (const stored of storedVersionsAscending(snapshot, ref)) {
      const { fields, ts } = decodeVersion(ref, stored)
      if (ts >= commitTime) return
      if (ref.collection === native.indexes && !this.#indexTimes.has(ref.id)) this.#indexTimes.set(ref.id, ts)
      if (fields.get('name') === name) continue
      if (tenure) tenure.until = ts
      name = fields.get('name')
      tenure = typeof name === 'string' ? this.#begin(name, ref, ts) : undefined
    }
  }

  #begin(name: string, ref: Ref, since: Micros): Tenure {
    const tenure = { ref, since, until: endOfTime }
    const key = `${ref.collection} ${name}`
    const others = this.#tenures.get(key)
    if (others) others.push(tenure)
    else this.#tenures.set(key, [tenure])
    return tenure
  }

  /** The creation time of an index; undefined for an index that the transaction itself creates. */
  indexTime({ id }: Ref): Micros | undefined {
    return this.#indexTimes.get(id)
  }

  /** The object that had a name right before a time, if any. */
  holder(kind: CollectionId, name: string, before: Micros): Ref | undefined {
    return this.#tenures.get(`${kind} ${name}`)?.find(({ since, until }) => since < before && until >= before)
      ?.ref
  }
}
