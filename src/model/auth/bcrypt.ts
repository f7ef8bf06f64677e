// An interface to the bcrypt package: hashes of all relevant dialects, computed off the event loop, with a limit on the
// cost of stored hashes.

import { availableParallelism } from 'node:os'
import bcrypt from 'bcrypt'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'

/** The number of input bytes that bcrypt uses. Further bytes have no effect. */
export const bcryptBytesMax = 72

/** Hashes of a higher cost never verify: 2^16 rounds take seconds, and a costlier hash could block all logins for hours. */
export const bcryptCostMax = 16

/**
 * The number of concurrent bcrypt operations in threads that other work shares: at most `most`. On machines with
 * several cores, one core stays free.
 */
export function bcryptAtOnce(most: number): number {
  return Math.min(most, Math.max(1, availableParallelism() - 1))
}

/** The error for a check or a hash when too many are waiting. */
export function tooManyChecks(): RequestError {
  return new RequestError('too many requests', msg`Too many pending requests`)
}

/** The bytes of a text, and a well-formed hash (see {@link bcryptCost}) that may belong to them. */
export interface Candidate {
  readonly bytes: Uint8Array
  readonly hash: string
}

/** The bcrypt operations; tests replace them to count calls. */
export interface Bcrypt {
  /** A `$2a$` hash of the first 72 bytes: the dialect of the protocol. */
  hash(bytes: Uint8Array, cost: number): Promise<string>
  /** The index of the first candidate whose first 72 bytes match its hash. Later candidates are not tried. */
  firstMatch(candidates: readonly Candidate[]): Promise<number | undefined>
}

/** The input for the bcrypt package. With at most 72 bytes, the dialects a, b and y are the same function. */
export function firstBytes(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.subarray(0, bcryptBytesMax))
}

/** A hash in another dialect. The package produces b and accepts only a and b. */
export function inDialect(dialect: 'a' | 'b', hash: string): string {
  return `$2${dialect}$${hash.slice(4)}`
}

/** Runs in Node's thread pool, which the store also uses: only for operations of about a millisecond. */
export const nativeBcrypt: Bcrypt = {
  hash: async (bytes, cost) => inDialect('a', await bcrypt.hash(firstBytes(bytes), cost)),
  async firstMatch(candidates) {
    for (const [at, { bytes, hash }] of candidates.entries())
      if (await bcrypt.compare(firstBytes(bytes), inDialect('b', hash))) return at
    return undefined
  },
}

const shape = /^\$2[aby]\$(0[4-9]|1[0-9]|2[0-9]|3[01])\$[./A-Za-z0-9]{53}$/

/** The cost of a well-formed `$2a$`, `$2b$` or `$2y$` hash; undefined for any other text. */
export function bcryptCost(hash: string): number | undefined {
  const match = hash.length === 60 ? shape.exec(hash) : null
  return match ? Number(match[1]) : undefined
}

/** Returns whether a hash can verify: it is well-formed and its cost is within the limit. */
export function isUsableHash(hash: string): boolean {
  const cost = bcryptCost(hash)
  return cost !== undefined && cost <= bcryptCostMax
}
