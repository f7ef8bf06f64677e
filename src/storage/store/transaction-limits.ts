// `checkWrites` checks every transaction before its commit. The other checks run during the evaluation, so that a
// transaction with too many bytes stops early and takes no more memory.

import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'
import type { Write } from '../kv/kv-contract.ts'

const transactionLimits = {
  /** Maximum number of bytes that one transaction writes. */
  transactionBytesMax: 16_777_216,
} as const

/**
 * Returns the number of bytes. Throws a RequestError; then nothing of the transaction is written. Called once for each
 * evaluation, also of background work such as index builds. The result may depend only on the writes, because a
 * transaction may be evaluated several times.
 */
export function checkWrites(writes: readonly Write[]): number {
  let bytes = 0
  for (const { key, value } of writes) bytes += key.length + (value?.length ?? 0)
  checkTransactionBytes(bytes)
  return bytes
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
