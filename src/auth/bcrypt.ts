// The bcrypt package behind a small interface: hashes of every dialect that matters, off the event loop, and with
// a bound on the cost that a stored hash may demand.

import { availableParallelism } from 'node:os'
import bcrypt from 'bcrypt'
import { RequestError } from '../errors.ts'

/** bcrypt looks at no more bytes than these. */
export const bcryptBytesMax = 72

/** Hashes of a higher cost (2^16 rounds take seconds) never verify: one of them could block all logins for hours. */
export const bcryptCostMax = 16

/** How much bcrypt may run at a time in threads that others need too: at most `most`, and one core is left. */
export function bcryptAtOnce(most: number): number {
  return Math.min(most, Math.max(1, availableParallelism() - 1))
}

/** The refusal of a check or a hash for which too many are waiting. */
export function tooManyChecks(): RequestError {
  return new RequestError('too many requests', 'Too many pending requests')
}

/** The bytes of a text, and a well-formed hash (see {@link bcryptCost}) that they may belong to. */
export interface Candidate {
  readonly bytes: Uint8Array
  readonly hash: string
}

/** What the rest of auth needs; tests count the calls through it. */
export interface Bcrypt {
  /** A `$2a$` hash of the first 72 bytes: the dialect in which the protocol writes them. */
  hash(bytes: Uint8Array, cost: number): Promise<string>
  /** The number of the first candidate whose first 72 bytes hash to its hash; those behind it are not tried. */
  firstMatch(candidates: readonly Candidate[]): Promise<number | undefined>
}

/** What the bcrypt package is given: cut to 72 bytes, the dialects a, b and y are the same function. */
export function firstBytes(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.subarray(0, bcryptBytesMax))
}

/** A hash spelled in another dialect; the package makes b and knows only a and b. */
export function inDialect(dialect: 'a' | 'b', hash: string): string {
  return `$2${dialect}$${hash.slice(4)}`
}

/** Runs in the thread pool of the process, which the store needs too: for what takes a millisecond. */
export const nativeBcrypt: Bcrypt = {
  hash: async (bytes, cost) => inDialect('a', await bcrypt.hash(firstBytes(bytes), cost)),
  async firstMatch(candidates) {
    for (const [at, { bytes, hash }] of candidates.entries())
      if (await bcrypt.compare(firstBytes(bytes), inDialect('b', hash))) return at
    return undefined
  },
}

const shape = /^\$2[aby]\$(0[4-9]|1[0-9]|2[0-9]|3[01])\$[./A-Za-z0-9]{53}$/

/** The cost of a well-formed `$2a$`, `$2b$` or `$2y$` hash, or undefined for every other text. */
export function bcryptCost(hash: string): number | undefined {
  const match = hash.length === 60 ? shape.exec(hash) : null
  return match ? Number(match[1]) : undefined
}

/** Whether this is a hash that can verify: well-formed and of a bearable cost. */
export function isUsableHash(hash: string): boolean {
  const cost = bcryptCost(hash)
  return cost !== undefined && cost <= bcryptCostMax
}
