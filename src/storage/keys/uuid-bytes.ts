// Converts UUIDs between their canonical text and 16 bytes.

import { assert } from '../../base/assert.ts'
import type { ByteWriter } from '../../values/byte-writer.ts'
import { Uuid } from '../../values/value.ts'

/** Appends the 16 bytes of a UUID. */
export function appendUuidBytes(writer: ByteWriter, uuid: Uuid): void {
  const digits = uuid.text.replaceAll('-', '')
  assert(digits.length === 32, 'a UUID has 32 digits')
  writer.u64(BigInt(`0x${digits.slice(0, 16)}`)).u64(BigInt(`0x${digits.slice(16)}`))
}

/** The UUID with these two halves. */
export function uuidFromHalves(high: bigint, low: bigint): Uuid {
  const digits = high.toString(16).padStart(16, '0') + low.toString(16).padStart(16, '0')
  const groups = [
    digits.slice(0, 8),
    digits.slice(8, 12),
    digits.slice(12, 16),
    digits.slice(16, 20),
    digits.slice(20),
  ]
  return new Uuid(groups.join('-'))
}
