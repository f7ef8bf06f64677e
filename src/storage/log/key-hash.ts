// Hashes keys for the tables of the commit log. Clients choose most bytes of many keys. A client who could compute the
// hashes could choose thousands of keys with the same slot, and so block the process for seconds. Therefore the hash
// uses a secret of the process: HalfSipHash-1-3 (Aumasson and Bernstein), which Linux uses for its hash tables. All
// bits of the hash depend on all bits of the input and of the secret.

import { systemRandom } from '../../base/random.ts'
import type { Bytes } from '../kv/kv-contract.ts'

const [secret0 = 0, secret1 = 0] = new Int32Array(systemRandom.bytes(8).buffer)

/** The hash of `bytes[start..end)`, as a signed number of 32 bits. Each process has other hashes. */
export function hashKey(bytes: Bytes, start: number, end: number): number {
  let v0 = secret0
  let v1 = secret1
  let v2 = secret0 ^ 0x6c796765
  let v3 = secret1 ^ 0x74656462
  let at = start
  // The round is written twice, because a loop over all rounds takes 1.4 times as long.
  for (const lastWord = start + ((end - start) & ~3); at < lastWord; at += 4) {
    const word =
      (bytes[at] as number) |
      ((bytes[at + 1] as number) << 8) |
      ((bytes[at + 2] as number) << 16) |
      ((bytes[at + 3] as number) << 24)
    v3 ^= word
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    v0 ^= word
  }
  // The last word contains the remaining bytes and the length. Three rounds without a word follow.
  let word = (end - start) << 24
  for (let shift = 0; at < end; shift += 8) word |= (bytes[at++] as number) << shift
  for (let round = 0; round < 4; round++) {
    v3 ^= word
    v0 = (v0 + v1) | 0
    v1 = ((v1 << 5) | (v1 >>> 27)) ^ v0
    v0 = (v0 << 16) | (v0 >>> 16)
    v2 = (v2 + v3) | 0
    v3 = ((v3 << 8) | (v3 >>> 24)) ^ v2
    v0 = (v0 + v3) | 0
    v3 = ((v3 << 7) | (v3 >>> 25)) ^ v0
    v2 = (v2 + v1) | 0
    v1 = ((v1 << 13) | (v1 >>> 19)) ^ v2
    v2 = (v2 << 16) | (v2 >>> 16)
    v0 ^= word
    if (round === 0) v2 ^= 0xff
    word = 0
  }
  return v1 ^ v3
}
