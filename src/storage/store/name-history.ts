// Who had which name, and when, among the schema objects of a database: read from their versions, of which all are kept and
// none is ever rewritten. Entries whose bindings look names up are computed again from it long after.

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

/** One object's time with a name. */
interface Tenure {
  readonly ref: Ref
  readonly since: Micros
  /** When it got another name or was deleted. */
  until: Micros
}

/** Of databases there may be very many, and what lies in them is out of a binding's reach. */
const kinds = [...namedNatives].filter(kind => kind !== native.databases)

/** Where they are remembered, as long as the schema stays as it is. */
export interface NameHistories {
  nameHistory(database: DatabaseId): NameHistory
}

export class NameHistory {
  readonly #tenures = new Map<string, Tenure[]>()
  readonly #indexTimes = new Map<bigint, Micros>()

  /** All names up to a snapshot, without what its own transaction writes. */
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

  /** When an index was made; undefined for one that the transaction itself makes. */
  indexTime({ id }: Ref): Micros | undefined {
    return this.#indexTimes.get(id)
  }

  /** The object that had a name right before a time, if anything had. */
  holder(kind: CollectionId, name: string, before: Micros): Ref | undefined {
    return this.#tenures.get(`${kind} ${name}`)?.find(({ since, until }) => since < before && until >= before)
      ?.ref
  }
}
