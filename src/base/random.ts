// The only source of randomness, passed as a parameter, so that tests can replay a run.

import { randomFillSync, randomInt } from 'node:crypto'

export interface Random {
  bytes(count: number): Uint8Array
  /** Lower-case hexadecimal of `count` bytes. */
  hex(count: number): string
  /** An integer from 0 to `limit` - 1. */
  below(limit: number): number
}

// A call of the system's generator takes about a microsecond for any number of bytes. Every request needs `hex` for its
// trace, so `hex` draws from a pool.
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
