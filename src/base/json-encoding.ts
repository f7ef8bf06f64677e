// Decodes JSON text from the wire. The first character of JSON is ASCII, so in UTF-16 and UTF-32 it has zero bytes
// before or after it (RFC 4627 §3). Text with such zero bytes or with a byte order mark of UTF-16 or UTF-32 has that
// encoding. All other text is UTF-8.

import { isUtf8 } from 'node:buffer'

/** The result for invalid bytes: parsing this text fails. */
const undecodable = '\ufffd'

const byteOrderMark = 0xfeff

/** Decodes a JSON text. Bytes that are invalid in their encoding become a text that is not JSON. */
export function jsonText(bytes: Buffer): string {
  const wide = wideEncoding(bytes)
  if (wide !== undefined) return decode(wide, bytes)
  if (!isUtf8(bytes)) return undecodable
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return bytes.toString('utf8', marked ? 3 : 0)
}

/** Decodes the beginning of a JSON text, without an incomplete last character. */
export function beginningOfJson(bytes: Buffer): string {
  const encoding = wideEncoding(bytes) ?? 'utf-8'
  if (encoding === 'utf-32be' || encoding === 'utf-32le') {
    return decode(encoding, bytes.subarray(0, bytes.length - (bytes.length % 4)))
  }
  return new TextDecoder(encoding).decode(bytes, { stream: true })
}

type WideEncoding = 'utf-16be' | 'utf-16le' | 'utf-32be' | 'utf-32le'

/** Returns undefined for UTF-8. UTF-32 is tested first, because UTF-32 text may begin like UTF-16 text. */
function wideEncoding(bytes: Buffer): WideEncoding | undefined {
  if (bytes.length >= 4) {
    const first = bytes.readUInt32BE(0)
    if (first === 0x0000feff || first < 0x100) return 'utf-32be'
    if (first === 0xfffe0000 || (first & 0x00ffffff) === 0) return 'utf-32le'
  }
  const [first, second] = bytes
  if ((first === 0xfe && second === 0xff) || (first === 0 && second !== 0)) return 'utf-16be'
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return 'utf-16le'
  return undefined
}

function decode(encoding: WideEncoding, bytes: Buffer): string {
  try {
    if (encoding === 'utf-32be' || encoding === 'utf-32le') return decodeUtf32(encoding, bytes)
    return new TextDecoder(encoding, { fatal: true }).decode(bytes)
  } catch {
    return undecodable
  }
}

/** Node has no decoder for UTF-32. Throws a RangeError when the bytes are not valid. */
function decodeUtf32(encoding: 'utf-32be' | 'utf-32le', bytes: Buffer): string {
  const big = encoding === 'utf-32be'
  const parts: string[] = []
  for (let at = 0; at < bytes.length; at += 4) {
    const point = big ? bytes.readUInt32BE(at) : bytes.readUInt32LE(at)
    if (point >= 0xd800 && point <= 0xdfff) throw new RangeError('half of a surrogate pair')
    if (at > 0 || point !== byteOrderMark) parts.push(String.fromCodePoint(point))
  }
  return parts.join('')
}
