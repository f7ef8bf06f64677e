// Who tries a password: what failures are counted for, and whose turn it is to have passwords checked.

import { isIPv6 } from 'node:net'
import type { Memo } from '../base/pending.ts'
import type { Transaction } from '../store/contract.ts'
import { Ref } from '../values/value.ts'
import type { Caller } from './contract.ts'

/** A request that has a password checked or hashed. */
export interface Asking {
  readonly transaction: Transaction
  readonly memo: Memo
  readonly caller: Caller
  /** Where the request came from: an IP address; undefined when that is not known. */
  readonly address: string | undefined
}

/** A name for a credential at an address: all that tells one guesser from another. */
export function guesserOf({ address, caller: { credential, database } }: Asking): string {
  const who =
    credential instanceof Ref ? refName(credential) : credential === undefined ? 'root' : 'third party'
  return `${who} in ${database} at ${address === undefined ? 'nowhere' : networkOf(address)}`
}

/** A name for a document. */
export function refName({ collection, database, id }: Ref): string {
  return `${database}/${collection}/${id}`
}

/** An IPv4 address, or the first half of an IPv6 address: its network chooses the second. */
export function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(address)) return address
  const [head = '', tail] = (address.split('%')[0] as string).split('::')
  const left = head === '' ? [] : head.split(':')
  const right = tail === undefined || tail === '' ? [] : tail.split(':')
  const groups = [
    ...left,
    ...new Array<string>(Math.max(0, 8 - left.length - right.length)).fill('0'),
    ...right,
  ]
  return groups
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')
}
