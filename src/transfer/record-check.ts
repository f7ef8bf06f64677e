// Validates records before they are written, with the rules for documents that queries write. Records are documents of
// user collections, or credentials, because queries cannot transfer password hashes. An import creates schema objects
// and keys with queries, which validate them.

import type { Micros } from '../base/micros.ts'
import { int64Max, isObject, Time, UnresolvedRef } from '../values/value.ts'
import { credentialsName, type DocumentRecord } from './record.ts'
import { nativeMark } from './references.ts'

/** True for a user collection and {@link credentialsName}. */
export function isTransferred(collection: string): boolean {
  return collection === credentialsName || !collection.startsWith(nativeMark)
}

const documentFields = new Set(['data', 'ttl'])
const credentialFields = new Set(['instance', 'hashed_password', 'data', 'ttl'])

/** Returns why a record is invalid in every database, or undefined if the record is valid. */
export function recordFault({ collection, fields, id, isHistory, ts }: DocumentRecord): string | undefined {
  if (!isTransferred(collection)) return `${collection} is written by queries only`
  if (id < 0n || id > int64Max) return `the id ${id} is not between 0 and ${int64Max}`
  if (ts !== undefined && !isStoredTime(ts))
    return `the time ${ts} is not between 0 and ${Number.MAX_SAFE_INTEGER} microseconds of the Unix epoch`
  const isCredentials = collection === credentialsName
  if (isCredentials && isHistory) return 'credentials have no past'
  const known = isCredentials ? credentialFields : documentFields
  for (const name of fields.keys()) if (!known.has(name)) return `a field \`${name}\`, which it cannot have`
  const data = fields.get('data')
  if (data !== undefined && !isObject(data)) return 'its `data` is not an object'
  const ttl = fields.get('ttl')
  if (ttl !== undefined && !(ttl instanceof Time)) return 'its `ttl` is not a time'
  return isCredentials ? credentialsFault(fields) : undefined
}

function credentialsFault(fields: DocumentRecord['fields']): string | undefined {
  const hash = fields.get('hashed_password')
  if (hash !== undefined && typeof hash !== 'string') return 'its `hashed_password` is not a text'
  const instance = fields.get('instance')
  const isDocument = instance instanceof UnresolvedRef && instance.target.type === 'document'
  return isDocument ? undefined : 'its `instance` is not a reference to a document'
}

/** Microseconds of a version: not before 1970, and an exact integer. */
export function isStoredTime(ts: unknown): ts is Micros {
  return Number.isSafeInteger(ts) && (ts as number) >= 0
}
