// Wraps the bcrypt package: supports the prefixes `$2a$`, `$2b$` and `$2y$`, runs bcrypt outside of the event loop, and
// limits the cost of stored hashes.

import { availableParallelism } from 'node:os'
import bcrypt from 'bcrypt'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'

/** bcrypt ignores all further bytes. */
export const bcryptBytesMax = 72

/** A hash of this cost takes seconds (2^16 rounds), and hashes of higher costs could block all logins for hours. */
export const bcryptCostMax = 16

/** Concurrent checks in Node's thread pool: one fewer than the number of cores, but at least 1 and at most `most`. */
export function bcryptAtOnce(most: number): number {
  return Math.min(most, Math.max(1, availableParallelism() - 1))
}

/** The error if too many bcrypt operations are waiting. */
export function tooManyChecks(): RequestError {
  return new RequestError('too many requests', msg`Too many pending requests`)
}

/** The bytes of a password or secret, and a well-formed hash (see {@link bcryptCost}) to compare with the bytes. */
export interface Candidate {
  readonly bytes: Uint8Array
  readonly hash: string
}

/** Tests replace these operations to count calls. */
export interface Bcrypt {
  /** Returns a `$2a$` hash of the first 72 bytes. The protocol uses the prefix `$2a$`. */
  hash(bytes: Uint8Array, cost: number): Promise<string>
  /** The index of the first candidate whose first 72 bytes match its hash. Skips the remaining candidates. */
  firstMatch(candidates: readonly Candidate[]): Promise<number | undefined>
}

/**
 * The first 72 bytes, because hashes with the prefixes `$2a$`, `$2b$` and `$2y$` are equal only for inputs of at most
 * this length.
 */
export function firstBytes(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.subarray(0, bcryptBytesMax))
}

/** The package creates hashes with the prefix `$2b$`, and accepts only the prefixes `$2a$` and `$2b$`. */
export function withPrefix(variant: 'a' | 'b', hash: string): string {
  return `$2${variant}$${hash.slice(4)}`
}

/** Runs in Node's thread pool, which the store needs, too: only for operations of at most about a millisecond. */
export const nativeBcrypt: Bcrypt = {
  hash: async (bytes, cost) => withPrefix('a', await bcrypt.hash(firstBytes(bytes), cost)),
  async firstMatch(candidates) {
    for (const [at, { bytes, hash }] of candidates.entries())
      if (await bcrypt.compare(firstBytes(bytes), withPrefix('b', hash))) return at
    return undefined
  },
}

const shape = /^\$2[aby]\$(0[4-9]|1[0-9]|2[0-9]|3[01])\$[./A-Za-z0-9]{53}$/

/** Returns undefined if the text is not a well-formed `$2a$`, `$2b$` or `$2y$` hash. */
export function bcryptCost(hash: string): number | undefined {
  const match = hash.length === 60 ? shape.exec(hash) : null
  return match ? Number(match[1]) : undefined
}

/** The hash is well-formed and has at most the cost {@link bcryptCostMax}. */
export function isUsableHash(hash: string): boolean {
  const cost = bcryptCost(hash)
  return cost !== undefined && cost <= bcryptCostMax
}
