// The secrets of keys and tokens: binary records in URL-safe base64. A secret contains the id of its document, so it is
// found with one read, and ends in 160 random bits. Layout and hashing are facts of the protocol.

import { decodeBase64, encodeBase64Url } from '../../values/base64.ts'

const formatVersion = 126
const keyTag = 112
const tokenTag = 113
const keyBytes = 30
const tokenBytes = 38

/** Random bytes at the end of every secret. */
export const secretRandomBytes = 20

/** The bcrypt cost of secret hashes. It is low, because 160 random bits cannot be guessed at any speed. */
export const secretHashCost = 5

/** The parts of a secret. `random` is the base64url text of its random bytes; `hashed_secret` is the hash of that text. */
type ParsedSecret =
  | { readonly kind: 'key'; readonly id: bigint; readonly random: string }
  | { readonly kind: 'token'; readonly id: bigint; readonly database: bigint; readonly random: string }

/** The secret of a key: 40 characters. */
export function makeKeySecret(id: bigint, random: Uint8Array): string {
  const bytes = begin(keyBytes, keyTag, random)
  new DataView(bytes.buffer).setBigUint64(2, id)
  return encodeBase64Url(bytes)
}

/** The secret of a token, which also contains its database: 51 characters. */
export function makeTokenSecret(id: bigint, database: bigint, random: Uint8Array): string {
  const bytes = begin(tokenBytes, tokenTag, random)
  const view = new DataView(bytes.buffer)
  view.setBigUint64(2, id)
  view.setBigUint64(10, database)
  return encodeBase64Url(bytes)
}

/** Parses a secret; undefined unless the text is exactly the output of one of the two functions above. */
export function parseSecret(text: string): ParsedSecret | undefined {
  if (text.length !== 40 && text.length !== 51) return undefined
  const bytes = decode(text)
  if (!bytes || bytes[0] !== formatVersion) return undefined
  const view = new DataView(bytes.buffer)
  const id = view.getBigUint64(2)
  const random = encodeBase64Url(bytes.subarray(bytes.length - secretRandomBytes))
  if (bytes[1] === keyTag && bytes.length === keyBytes) return { kind: 'key', id, random }
  if (bytes[1] !== tokenTag || bytes.length !== tokenBytes) return undefined
  return { kind: 'token', id, database: view.getBigUint64(10), random }
}

function begin(length: number, tag: number, random: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(length)
  bytes[0] = formatVersion
  bytes[1] = tag
  bytes.set(random, length - secretRandomBytes)
  return bytes
}

/** Strict: each secret has one spelling, so spare bits of the last character must be zero. */
function decode(text: string): Uint8Array<ArrayBuffer> | undefined {
  const bytes = decodeBase64(text)
  return bytes !== undefined && encodeBase64Url(bytes) === text ? bytes : undefined
}
