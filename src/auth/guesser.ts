// Who tries a password: what failures are counted for, and whose turn it is to have passwords checked.

import type { Memo } from '../base/pending.ts'
import type { Transaction } from '../store/contract.ts'
import { Ref } from '../values/value.ts'
import type { Caller } from './contract.ts'

/** A request that has a password checked or hashed. */
export interface Asking {
  readonly transaction: Transaction
  readonly memo: Memo
  readonly caller: Caller
  /** Where the request came from: an IPv4 address, or the 64-bit network of an IPv6 address; undefined when that is not known. */
  readonly address: string | undefined
}

/** A name for a credential at an address: all that tells one guesser from another. */
export function guesserOf({ address, caller: { credential, database } }: Asking): string {
  const who =
    credential instanceof Ref ? refName(credential) : credential === undefined ? 'root' : 'third party'
  return `${who} in ${database} at ${address ?? 'nowhere'}`
}

/** A name for a document. */
export function refName({ collection, database, id }: Ref): string {
  return `${database}/${collection}/${id}`
}
