// Checks that all data that can expire has a due mark. Data without a mark would never be removed.

import { firstUserCollection, type Micros, type Ref } from '../../values/value.ts'
import { dueKey } from '../keys/keyspace.ts'
import { type CheckContext, nameRef } from './check-context.ts'
import { expiryTime } from './due-order.ts'
import type { StoredVersion } from './index-tables.ts'
import { never, ttlOf } from './records.ts'
import { shortNatives } from './retention.ts'

/** Checks the marks of superseded versions and of a `ttl`. Events of documents serve as marks, too. */
export function checkMarks(context: CheckContext, ref: Ref, versions: readonly StoredVersion[]): void {
  const { isMarked, minimumOf, report, snapshot } = context
  if (!isMarked || (ref.collection < firstUserCollection && !shortNatives.has(ref.collection))) return
  const minimum = minimumOf(ref.database, ref.collection)
  const isMarkedAt = (time: Micros) => snapshot.view.get(dueKey(ref, time)) !== undefined
  const check = (time: Micros) => {
    if (time > minimum && !isMarkedAt(time))
      report(`${nameRef(ref)} has no due mark for its expiry at ${time}`)
  }
  for (const [at, { action, ts }] of versions.entries()) {
    const previous = versions[at - 1]
    if (previous !== undefined && previous.action !== 'delete' && action !== 'delete') check(ts)
  }
  const newest = versions.at(-1)
  if (newest === undefined || newest.action === 'delete') return
  const ttl = ttlOf(newest.fields)
  // Version 0.2 marked a `ttl` that had passed at the commit with the wrong time; the sweeper marks the document again
  // (expired-rows.ts).
  if (ttl !== never && !isMarkedAt(ttl)) check(expiryTime(ttl, newest.ts))
}
