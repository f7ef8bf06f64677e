// The only source of randomness. Secrets, ids and trace ids come from a `Random` that is passed in, so that tests can
// replay a run.

import { randomFillSync, randomInt } from 'node:crypto'

export interface Random {
  /** A new array of `count` unpredictable bytes. */
  bytes(count: number): Uint8Array
  /** `count` unpredictable bytes as lower-case hexadecimal. */
  hex(count: number): string
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number
}

// A call of the system's generator takes about a microsecond for any number of bytes, so small draws share a pool.
const pool = Buffer.allocUnsafe(4096)
let used = pool.length

function draw(count: number): number {
  if (used + count > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const start = used
  used += count
  return start
}

/** The operating system's cryptographic generator. */
export const systemRandom: Random = {
  bytes(count) {
    return randomFillSync(new Uint8Array(count))
  },
  hex(count) {
    if (count > pool.length) return randomFillSync(Buffer.allocUnsafe(count)).toString('hex')
    const start = draw(count)
    return pool.toString('hex', start, start + count)
  },
  below(limit) {
    return randomInt(limit)
  },
}
