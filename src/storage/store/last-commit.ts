// The record of the newest commit. The record identifies a state of the store.

import { assert } from '../../base/assert.ts'
import { epoch, type Micros, micros } from '../../base/micros.ts'
import { metaKey } from '../keys/keyspace.ts'
import type { Bytes, View, Write } from '../kv/kv-contract.ts'
import { encodeTimes, timeAt } from './records.ts'

const key = metaKey('last commit')

/** The stored data of a commit. */
export interface CommitRecord {
  readonly time: Micros
  /** The time of the last commit that changed a schema. */
  readonly schemaTime: Micros
  /**
   * An id contains a time. This field is the latest time in ids that clients chose, in milliseconds. Only ids count
   * whose time was in the future when the document was created.
   */
  readonly chosenIdsMs: number
}

const noCommit: CommitRecord = { time: epoch, schemaTime: epoch, chosenIdsMs: 0 }

/** Returns the newest commit in a state. */
export function lastCommit(view: Pick<View, 'get'>): CommitRecord {
  const stored = view.get(key)
  return stored === undefined ? noCommit : decodeCommit(stored)
}

/** Decodes the commit record that a write stores. Returns undefined if the write stores another row. */
export function commitOf({ key: written, value }: Write): CommitRecord | undefined {
  return value === undefined || Buffer.compare(written, key) !== 0 ? undefined : decodeCommit(value)
}

/** Returns the write that stores a commit as the newest commit. */
export function commitWrite({ chosenIdsMs, schemaTime, time }: CommitRecord): Write {
  return { key, value: encodeTimes(time, schemaTime, micros(chosenIdsMs)) }
}

function decodeCommit(bytes: Bytes): CommitRecord {
  assert(bytes.length === 24, 'a commit record has 24 bytes')
  return { time: timeAt(bytes, 0), schemaTime: timeAt(bytes, 8), chosenIdsMs: timeAt(bytes, 16) }
}
