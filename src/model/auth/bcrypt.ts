// An interface to the bcrypt package. It handles the hashes of all relevant dialects, runs off the event loop, and
// limits the cost of stored hashes.

import { availableParallelism } from 'node:os'
import bcrypt from 'bcrypt'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'

/** The number of input bytes that bcrypt uses. Further bytes have no effect. */
export const bcryptBytesMax = 72

/**
 * Hashes with a higher cost never verify. 2^16 rounds take seconds, and a hash with a higher cost could block all
 * logins for hours.
 */
export const bcryptCostMax = 16

/**
 * Returns the number of bcrypt operations that may run concurrently in threads that other work also uses: at most
 * `most`. On machines with several cores, one core stays free.
 */
export function bcryptAtOnce(most: number): number {
  return Math.min(most, Math.max(1, availableParallelism() - 1))
}

/** Returns the error for a check or a hash when too many checks and hashes are waiting. */
export function tooManyChecks(): RequestError {
  return new RequestError('too many requests', msg`Too many pending requests`)
}

/** The bytes of a password or secret, and a well-formed hash (see {@link bcryptCost}) to compare the bytes with. */
export interface Candidate {
  readonly bytes: Uint8Array
  readonly hash: string
}

/** The bcrypt operations; tests replace them to count calls. */
export interface Bcrypt {
  /** Returns a `$2a$` hash of the first 72 bytes. `$2a$` is the dialect of the protocol. */
  hash(bytes: Uint8Array, cost: number): Promise<string>
  /** Returns the index of the first candidate whose first 72 bytes match its hash. Does not try later candidates. */
  firstMatch(candidates: readonly Candidate[]): Promise<number | undefined>
}

/**
 * Returns the input for the bcrypt package. For at most 72 bytes, the dialects a, b and y compute the same function.
 */
export function firstBytes(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.subarray(0, bcryptBytesMax))
}

/** Returns a hash with the prefix of another dialect. The package produces b and accepts only a and b. */
export function inDialect(dialect: 'a' | 'b', hash: string): string {
  return `$2${dialect}$${hash.slice(4)}`
}

/** Runs bcrypt in Node's thread pool, which the store also uses. Only for operations of about a millisecond. */
export const nativeBcrypt: Bcrypt = {
  hash: async (bytes, cost) => inDialect('a', await bcrypt.hash(firstBytes(bytes), cost)),
  async firstMatch(candidates) {
    for (const [at, { bytes, hash }] of candidates.entries())
      if (await bcrypt.compare(firstBytes(bytes), inDialect('b', hash))) return at
    return undefined
  },
}

const shape = /^\$2[aby]\$(0[4-9]|1[0-9]|2[0-9]|3[01])\$[./A-Za-z0-9]{53}$/

/** Returns the cost of a well-formed `$2a$`, `$2b$` or `$2y$` hash; undefined for any other text. */
export function bcryptCost(hash: string): number | undefined {
  const match = hash.length === 60 ? shape.exec(hash) : null
  return match ? Number(match[1]) : undefined
}

/** Returns whether a hash can be used in checks: it must be well-formed, and its cost must be within the limit. */
export function isUsableHash(hash: string): boolean {
  const cost = bcryptCost(hash)
  return cost !== undefined && cost <= bcryptCostMax
}
