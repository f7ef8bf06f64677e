// Times in stored records: microseconds, signed, in 8 bytes, big-endian.

import { micros } from '../../base/micros.ts'
import type { ByteWriter } from '../../values/byte-writer.ts'
import type { Micros } from '../../values/value.ts'
import type { Bytes } from '../kv/contract.ts'

const two32 = 0x1_0000_0000

/** Appends a time. */
export function appendTime(writer: ByteWriter, time: Micros): void {
  const high = Math.floor(time / two32)
  writer.u32(high >>> 0)
  writer.u32(time - high * two32)
}

/** The time at an offset. */
export function timeAt(bytes: Bytes, at: number): Micros {
  const high =
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number)
  const low =
    (((bytes[at + 4] as number) << 24) |
      ((bytes[at + 5] as number) << 16) |
      ((bytes[at + 6] as number) << 8) |
      (bytes[at + 7] as number)) >>>
    0
  return micros(high * two32 + low)
}
