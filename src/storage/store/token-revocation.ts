// Revokes all tokens of an identity with one write. Deleting a token writes several rows, so one transaction cannot
// delete the tokens of an identity with very many tokens. The transaction then stores only a time: earlier tokens of
// the identity are invalid from its commit on, and the sweeper (sweeper.ts) deletes these tokens in batches.
//
// The time is a field of a document, so backups, streams and time travel treat it like other documents. A document has
// a field for each collection with an identity of the document's id. The document remains after the deletion of the
// tokens, because a deletion of the document would end the event streams of later tokens.

import { type ObjectValue, Ref, TransactionTime, unlisted, type Value } from '../../values/value.ts'
import type { Version } from './store-contract.ts'

export const tokenRevocationLimits = {
  /**
   * Maximum number of tokens that `Logout(true)` or the deletion of their identity deletes itself. If the identity has
   * more tokens, all of them become invalid at once, but are deleted in the background; own limit.
   */
  tokensDeletedAtOnce: 1000,
  /** Like `tokensDeletedAtOnce`, but the maximum number of bytes of these tokens; own limit. */
  tokenBytesDeletedAtOnce: 1_048_576,
} as const

/** Returns the document with the time at which the tokens of an identity were revoked. */
export function revocationRef({ database, id }: Ref): Ref {
  return new Ref(database, unlisted.token_revocations, id)
}

/** Adds the revocation of the tokens of an identity to the fields of its document from {@link revocationRef}. */
export function withRevocation(fields: ObjectValue | undefined, { collection }: Ref): ObjectValue {
  return new Map<string, Value>(fields).set(String(collection), TransactionTime.micros)
}

/** Returns whether a revocation of the instance's tokens applies to a version of a token. */
export function isRevoked(
  { ts }: Pick<Version, 'ts'>,
  instance: Pick<Ref, 'collection'>,
  revocations: ObjectValue,
): boolean {
  if (ts instanceof TransactionTime) return false
  const revoked = revocations.get(String(instance.collection))
  return revoked instanceof TransactionTime || (typeof revoked === 'bigint' && ts < revoked)
}

export function revokedIdentities(of: Ref, revocations: ObjectValue): Ref[] {
  return Array.from(revocations.keys(), collection => new Ref(of.database, Number(collection), of.id))
}
