// The record of the newest commit, which identifies a state of the store.

import { assert } from '../../base/assert.ts'
import { epoch, type Micros, micros } from '../../base/micros.ts'
import { metaKey } from '../keys/keyspace.ts'
import type { Bytes, View, Write } from '../kv/kv-contract.ts'
import { encodeTimes, timeAt } from './records.ts'

const key = metaKey('last commit')

/** The stored data of the newest commit: its time, and the time of the newest commit that changed any schema. */
export interface CommitRecord {
  readonly time: Micros
  readonly schemaTime: Micros
  /**
   * The latest time in an id that a client chose for a document, in milliseconds, if that time was in the future when
   * the document was created. All ids in use with later times were generated.
   */
  readonly chosenIdsMs: number
}

const noCommit: CommitRecord = { time: epoch, schemaTime: epoch, chosenIdsMs: 0 }

/** The newest commit in a state. */
export function lastCommit(view: Pick<View, 'get'>): CommitRecord {
  const stored = view.get(key)
  return stored === undefined ? noCommit : decodeCommit(stored)
}

/** The commit of a write that updates the record; undefined for other writes. */
export function commitOf({ key: written, value }: Write): CommitRecord | undefined {
  return value === undefined || Buffer.compare(written, key) !== 0 ? undefined : decodeCommit(value)
}

/** The write that makes a commit the newest one. */
export function commitWrite({ chosenIdsMs, schemaTime, time }: CommitRecord): Write {
  return { key, value: encodeTimes(time, schemaTime, micros(chosenIdsMs)) }
}

function decodeCommit(bytes: Bytes): CommitRecord {
  assert(bytes.length === 24, 'a commit record has 24 bytes')
  return { time: timeAt(bytes, 0), schemaTime: timeAt(bytes, 8), chosenIdsMs: timeAt(bytes, 16) }
}
