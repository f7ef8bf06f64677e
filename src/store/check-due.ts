// Checks that everything that falls out of the history some day has its mark: without one it would stay for good.

import { dueKey } from '../keys/keyspace.ts'
import { firstUserCollection, type Micros, type Ref } from '../values/value.ts'
import { type CheckContext, nameRef } from './check-context.ts'
import { areAllMarked, expiryTime } from './due-order.ts'
import type { StoredVersion } from './index-tables.ts'
import { never, ttlOf } from './records.ts'
import { shortNatives } from './retention.ts'

/** Proves that the marks of a store agree with its documents. */
export class DueCheck {
  readonly #context: CheckContext
  /** A folder of before may still be on its way to having marks. */
  readonly #isComplete: boolean

  constructor(context: CheckContext) {
    this.#context = context
    this.#isComplete = areAllMarked(context.snapshot.view)
  }

  /** Versions that took the place of others, and a `ttl`, are marked. What the events of documents mark, those are checked for. */
  checkDocument(ref: Ref, versions: readonly StoredVersion[]): void {
    if (!this.#isComplete || (ref.collection < firstUserCollection && !shortNatives.has(ref.collection)))
      return
    const minimum = this.#context.minimumOf(ref.database, ref.collection)
    for (const [at, { action, ts }] of versions.entries()) {
      const previous = versions[at - 1]
      if (previous === undefined || previous.action === 'delete' || action === 'delete') continue
      if (ts > minimum) this.#check(ref, ts)
    }
    const newest = versions.at(-1)
    const ttl = newest === undefined ? never : ttlOf(newest.fields)
    if (newest === undefined || newest.action === 'delete' || ttl === never) return
    const end = expiryTime(ttl, newest.ts)
    if (end > minimum) this.#check(ref, end)
  }

  #check(ref: Ref, time: Micros): void {
    if (this.#context.snapshot.view.get(dueKey(ref, time)) !== undefined) return
    this.#context.report(`${nameRef(ref)} has no mark that says that something of it falls out at ${time}`)
  }
}
