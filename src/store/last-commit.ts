// The record of the newest commit: what tells one state of the store from another.

import { epoch } from '../base/micros.ts'
import { metaKey } from '../keys/keyspace.ts'
import type { View, Write } from '../kv/contract.ts'
import { type CommitRecord, decodeCommit, encodeCommit } from './records.ts'

const key = metaKey('last commit')

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
export function commitWrite(commit: CommitRecord): Write {
  return { key, value: encodeCommit(commit) }
}
