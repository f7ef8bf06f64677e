// Identifies password guessers: failed logins are counted per guesser, and guessers take turns for password checks.

import type { Memo } from '../../base/pending.ts'
import type { Transaction } from '../../storage/store/contract.ts'
import { Ref } from '../../values/value.ts'
import type { Caller } from './contract.ts'

/** A request to check or hash a password. */
export interface PasswordRequest {
  readonly transaction: Transaction
  readonly memo: Memo
  readonly caller: Caller
  /** The origin of the request: an IPv4 address, or the 64-bit network of an IPv6 address; undefined when unknown. */
  readonly address: string | undefined
}

/** A name for a credential at an address. Guessers are distinguished by this name only. */
export function guesserOf({ address, caller: { credential, database } }: PasswordRequest): string {
  const who =
    credential instanceof Ref ? refName(credential) : credential === undefined ? 'root' : 'third party'
  return `${who} in ${database} at ${address ?? 'nowhere'}`
}

/** A name for a document. */
export function refName({ collection, database, id }: Ref): string {
  return `${database}/${collection}/${id}`
}
