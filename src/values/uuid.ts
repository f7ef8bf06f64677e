// UUIDs by the lenient rules of Java's UUID.fromString, as FQL requires. Stored UUIDs have 16 bytes.

import { assert } from '../base/assert.ts'
import type { ByteWriter } from './byte-writer.ts'
import { int64Max, Uuid } from './value.ts'

/** Hexadecimal digits of each group in the canonical form. */
const groupDigits = [8, 4, 4, 4, 12] as const

const longestText = 36

/**
 * Parses five groups of hexadecimal digits. Short groups are padded with zeros: `1-1-1-1-1` is a UUID. Only the last
 * digits of long groups are used. Returns undefined if the text is not a UUID.
 */
export function parseUuid(text: string): Uuid | undefined {
  if (text.length > longestText) return undefined
  const groups = text.split('-')
  if (groups.length !== groupDigits.length) return undefined
  let canonical = ''
  for (const [index, digits] of groupDigits.entries()) {
    const group = canonicalGroup(groups[index] ?? '', digits)
    if (group === undefined) return undefined
    canonical += index === 0 ? group : `-${group}`
  }
  return new Uuid(canonical)
}

/** Java reads each group as a signed 64-bit integer, which may begin with `+`, and rejects a greater number. */
function canonicalGroup(group: string, digits: number): string | undefined {
  const hex = group.startsWith('+') ? group.slice(1) : group
  if (!/^[0-9a-f]+$/i.test(hex)) return undefined
  if (BigInt(`0x${hex}`) > int64Max) return undefined
  return hex.toLowerCase().padStart(digits, '0').slice(-digits)
}

export function appendUuidBytes(writer: ByteWriter, uuid: Uuid): void {
  const digits = uuid.text.replaceAll('-', '')
  assert(digits.length === 32, 'a UUID has 32 digits')
  writer.u64(BigInt(`0x${digits.slice(0, 16)}`)).u64(BigInt(`0x${digits.slice(16)}`))
}

export function uuidFromHalves(high: bigint, low: bigint): Uuid {
  const digits = high.toString(16).padStart(16, '0') + low.toString(16).padStart(16, '0')
  return new Uuid(digits.replace(/(.{8})(.{4})(.{4})(.{4})(.{12})/, '$1-$2-$3-$4-$5'))
}
