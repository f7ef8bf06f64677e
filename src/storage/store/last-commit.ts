// The record of the newest commit identifies a state of the store.

import { assert } from '../../base/assert.ts'
import { epoch, type Micros, micros } from '../../base/micros.ts'
import { metaKey } from '../keys/keyspace.ts'
import type { Bytes, View, Write } from '../kv/kv-contract.ts'
import { encodeTimes, timeAt } from './records.ts'

const key = metaKey('last commit')

export interface CommitRecord {
  readonly time: Micros
  /** The time of the last commit that changed a schema. */
  readonly schemaTime: Micros
  /**
   * The latest time in ids that clients chose, in milliseconds, if it was in the future when the document was created.
   */
  readonly chosenIdsMs: number
}

const noCommit: CommitRecord = { time: epoch, schemaTime: epoch, chosenIdsMs: 0 }

/** The newest commit in a state. */
export function lastCommit(view: Pick<View, 'get'>): CommitRecord {
  const stored = view.get(key)
  return stored === undefined ? noCommit : decodeCommit(stored)
}

/** Undefined if the write stores another row. */
export function commitOf({ key: written, value }: Write): CommitRecord | undefined {
  return value === undefined || Buffer.compare(written, key) !== 0 ? undefined : decodeCommit(value)
}

export function commitWrite({ chosenIdsMs, schemaTime, time }: CommitRecord): Write {
  return { key, value: encodeTimes(time, schemaTime, micros(chosenIdsMs)) }
}

function decodeCommit(bytes: Bytes): CommitRecord {
  assert(bytes.length === 24, 'a commit record has 24 bytes')
  return { time: timeAt(bytes, 0), schemaTime: timeAt(bytes, 8), chosenIdsMs: timeAt(bytes, 16) }
}
