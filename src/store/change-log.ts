// The change log: what each transaction touched, by commit time. Streams, caches and the integrity check read it.

import { assert } from '../base/assert.ts'
import { changesKey, changesRange } from '../keys/keyspace.ts'
import { decodeValue, encodeValue } from '../keys/value-codec.ts'
import type { Bytes, View, Write } from '../kv/contract.ts'
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
    const rows = changes.slice(start, start + partChangesMax).map(encodeChange)
    writes.push({ key: changesKey(time, writes.length), value: encodeValue([BigInt(time), ...rows]) })
  }
  return writes
}

function encodeChange(change: Change): Value {
  return [
    change.ref,
    BigInt(change.validTime),
    BigInt(kinds.indexOf(change.kind)),
    BigInt(actions.indexOf(change.action)),
  ]
}

function decodeChange(row: Value): Change {
  assert(isArray(row) && row[0] instanceof Ref, 'a logged change is an array that begins with a reference')
  const kind = kinds[Number(row[2])]
  const action = actions[Number(row[3])]
  assert(kind !== undefined && action !== undefined, 'a logged change has a known kind and action')
  return { ref: row[0], validTime: Number(row[1]), kind, action }
}

function decodePart(value: Bytes): { readonly time: Micros; readonly changes: Change[] } {
  const part = decodeValue(value)
  assert(isArray(part) && typeof part[0] === 'bigint', 'a part of the change log begins with its time')
  return { time: Number(part[0]), changes: part.slice(1).map(decodeChange) }
}

/** The transactions committed after `after`, oldest first, at most `limit`. */
export function readChanges(view: View, after: Micros | undefined, limit: number): CommittedTransaction[] {
  const transactions: { time: Micros; changes: Change[] }[] = []
  for (const { value } of view.range(changesRange(after))) {
    const part = decodePart(value)
    const last = transactions.at(-1)
    if (last?.time === part.time) {
      last.changes.push(...part.changes)
      continue
    }
    if (transactions.length >= limit) break
    transactions.push(part)
  }
  return transactions
}
