// The record of the newest commit: what tells one state of the store from another.

import { assert } from '../../base/assert.ts'
import { epoch, type Micros, micros } from '../../base/micros.ts'
import { metaKey } from '../keys/keyspace.ts'
import type { Bytes, View, Write } from '../kv/contract.ts'
import { timeAt } from './record-times.ts'
import { encodeTimes } from './records.ts'

const key = metaKey('last commit')

/** What is stored of the newest commit: its time, and that of the newest one that changed the schema of any database. */
export interface CommitRecord {
  readonly time: Micros
  readonly schemaTime: Micros
  /**
   * The latest time in an id that a client gave to a document, in milliseconds, of those that lay in the future then:
   * from there on, nothing but drawn ids are in use.
   */
  readonly givenIdsMs: number
}

const noCommit: CommitRecord = { time: epoch, schemaTime: epoch, givenIdsMs: 0 }

/** The newest commit that a state holds. */
export function lastCommit(view: Pick<View, 'get'>): CommitRecord {
  const stored = view.get(key)
  return stored === undefined ? noCommit : decodeCommit(stored)
}

/** The commit that a write makes the newest one; undefined when it is another write. */
export function commitOf({ key: written, value }: Write): CommitRecord | undefined {
  return value === undefined || Buffer.compare(written, key) !== 0 ? undefined : decodeCommit(value)
}

/** The write that makes a commit the newest one. */
export function commitWrite({ givenIdsMs, schemaTime, time }: CommitRecord): Write {
  return { key, value: encodeTimes(time, schemaTime, micros(givenIdsMs)) }
}

function decodeCommit(bytes: Bytes): CommitRecord {
  assert(bytes.length === 24, 'a commit record has 24 bytes')
  return { time: timeAt(bytes, 0), schemaTime: timeAt(bytes, 8), givenIdsMs: timeAt(bytes, 16) }
}
