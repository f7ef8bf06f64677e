// The change log: what each transaction touched, by commit time. Streams, caches and the integrity check read it.

import { assert } from '../base/assert.ts'
import { decodeKey } from '../keys/key-reader.ts'
import { changesKey, changesRange } from '../keys/keyspace.ts'
import { decodeValue, encodeValue } from '../keys/value-codec.ts'
import type { Entry, View, Write } from '../kv/contract.ts'
import { isArray, type Micros, Ref, type Value } from '../values/value.ts'
import type { Change, CommittedTransaction } from './contract.ts'

/** Changes in one stored part of a transaction. */
const partChangesMax = 1000

const kinds = ['write', 'history insert', 'history remove'] as const
const actions = ['create', 'update', 'delete', 'add', 'remove'] as const

/** The writes that put a transaction's changes into the log. A transaction without any leaves no trace. */
export function encodeChanges(time: Micros, changes: readonly Change[]): Write[] {
  const writes: Write[] = []
  for (let start = 0; start < changes.length; start += partChangesMax) {
    const rows = changes.slice(start, start + partChangesMax).map(change => encodeChange(change, time))
    writes.push({ key: changesKey(time, writes.length), value: encodeValue(rows) })
  }
  return writes
}

/** The time of the transaction stands in the key alone: it is not certain before the commit. */
function encodeChange(change: Change, time: Micros): Value {
  const { action, kind, ref, validTime } = change
  const what = BigInt(kinds.indexOf(kind) * actions.length + actions.indexOf(action))
  return validTime === time ? [ref, what] : [ref, what, BigInt(validTime)]
}

function decodeChange(row: Value, time: Micros): Change {
  assert(isArray(row) && row[0] instanceof Ref, 'a logged change is an array that begins with a reference')
  const what = Number(row[1])
  const kind = kinds[Math.floor(what / actions.length)]
  const action = actions[what % actions.length]
  assert(kind !== undefined && action !== undefined, 'a logged change has a known kind and action')
  return { ref: row[0], validTime: row[2] === undefined ? time : Number(row[2]), kind, action }
}

function decodePart({ key, value }: Entry): { readonly time: Micros; readonly changes: Change[] } {
  const place = decodeKey(key)
  assert(place.kind === 'changes', 'the change log holds changes')
  const rows = decodeValue(value)
  assert(isArray(rows), 'a part of the change log is an array')
  return { time: place.ts, changes: rows.map(row => decodeChange(row, place.ts)) }
}

/**
 * The transactions committed after `after`, oldest first, at most `limit`, and none more once these have `changesMax`
 * changes.
 */
export function readChanges(
  view: View,
  after: Micros | undefined,
  limit: number,
  changesMax = Number.POSITIVE_INFINITY,
): CommittedTransaction[] {
  const transactions: { time: Micros; changes: Change[] }[] = []
  let changes = 0
  for (const row of view.range(changesRange(after))) {
    const part = decodePart(row)
    const last = transactions.at(-1)
    if (last?.time === part.time) {
      last.changes.push(...part.changes)
      changes += part.changes.length
      continue
    }
    if (transactions.length >= limit || changes >= changesMax) break
    changes += part.changes.length
    transactions.push(part)
  }
  return transactions
}
