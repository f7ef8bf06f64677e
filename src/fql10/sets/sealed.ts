// Data that goes out to clients as text and comes back: with a proof that this service has made it. Bytes: a version, which
// tells kinds apart, the stored value, 16 bytes of proof; all of it as base64url.

import { hash, timingSafeEqual } from 'node:crypto'
import { decodeValue, encodeValue } from '../../storage/keys/value-codec.ts'
import { encodeBase64Url } from '../../values/base64.ts'
import type { Micros, Value as StoredValue } from '../../values/value.ts'

/** What is sealed. The numbers stand in texts that clients keep: never renumber. 4 is a place (../events/place-text.ts). */
const versions = { 'set cursor': 1, 'event source': 2 } as const

/** A kind of sealed data. */
type SealedKind = keyof typeof versions

const proofBytes = 16

/** The text of a value; a time within it that is not known yet is `time`. */
export function seal(kind: SealedKind, value: StoredValue, key: Uint8Array, time: Micros): string {
  const encoded = encodeValue(value, time)
  const end = 1 + encoded.length
  const bytes = Buffer.allocUnsafe(end + proofBytes)
  bytes[0] = versions[kind]
  bytes.set(encoded, 1)
  bytes.set(proofOf(bytes.subarray(0, end), key), end)
  return encodeBase64Url(bytes)
}

/** The kind and the value of a text that was sealed with the key; undefined for any other text. */
export function unseal(
  text: string,
  key: Uint8Array,
): { readonly kind: SealedKind; readonly value: StoredValue } | undefined {
  const bytes = Buffer.from(text, 'base64url')
  const end = bytes.length - proofBytes
  const kind = kindOf(bytes[0])
  if (end < 2 || kind === undefined) return undefined
  if (!timingSafeEqual(bytes.subarray(end), proofOf(bytes.subarray(0, end), key))) return undefined
  return { kind, value: decodeValue(bytes, 1, end) }
}

/** Whether a text could be sealed data of a kind, as far as that is seen without a key. */
export function looksSealed(text: string, wanted: SealedKind): boolean {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length - proofBytes >= 2 && kindOf(bytes[0]) === wanted
}

function kindOf(version: number | undefined): SealedKind | undefined {
  return (Object.keys(versions) as SealedKind[]).find(kind => versions[kind] === version)
}

/** With the key on both sides, and cut: a HMAC takes three times as long. */
function proofOf(head: Uint8Array, key: Uint8Array): Buffer {
  const end = key.length + head.length
  const proven = Buffer.allocUnsafe(end + key.length)
  proven.set(key, 0)
  proven.set(head, key.length)
  proven.set(key, end)
  return hash('sha256', proven, 'buffer').subarray(0, proofBytes)
}
