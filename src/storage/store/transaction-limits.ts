// Limits how many bytes a transaction and a version may have. `checkWrites` checks every transaction before its commit.
// The other checks run during the evaluation, so that a transaction with too many bytes stops early and takes no more
// memory.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'
import { timeLength } from '../keys/key-times.ts'
import { keyTags } from '../keys/keyspace.ts'
import type { Write } from '../kv/kv-contract.ts'

const transactionLimits = {
  /** Maximum number of bytes that one transaction writes. */
  transactionBytesMax: 16_777_216,
} as const

/**
 * Returns the number of bytes. Throws a RequestError; then nothing of the transaction is written. Called at the end of
 * each evaluation, also of background work such as index builds. The result may depend only on the writes, because a
 * transaction may be evaluated several times.
 */
export function checkWrites(writes: readonly Write[]): number {
  let bytes = 0
  for (const write of writes) bytes += countedBytes(write)
  checkTransactionBytes(bytes)
  return bytes
}

/**
 * The bytes of a write that count towards the limit of a transaction. When an entry of an index ends, its ended row
 * counts as much as its live row counted, and the removal of the live row does not count. Otherwise, a document could
 * be so large that a transaction can create it, but no transaction can delete it.
 */
export function countedBytes({ key, value }: Write): number {
  if (value === undefined) return key[0] === keyTags.indexLive ? 0 : key.length
  const bytes = key.length + value.length
  return key[0] === keyTags.indexEnded ? bytes - timeLength : bytes
}

/** Throws a RequestError if a transaction writes more bytes than the protocol allows. */
export function checkTransactionBytes(bytes: number): void {
  if (bytes <= transactionLimits.transactionBytesMax) return
  throw new RequestError(
    'bad request',
    msg`Transaction exceeded limit: got ${bytes} bytes, limit ${transactionLimits.transactionBytesMax} bytes`,
  )
}

/** Throws a RequestError if a version of a document has more bytes than the protocol allows. */
export function checkVersionBytes(bytes: number): void {
  if (bytes <= limits.documentBytesMax) return
  throw new RequestError(
    'bad request',
    msg`Version bytes (${bytes}) exceeds threshold (${limits.documentBytesMax})`,
  )
}
