// The text of JSON as it comes over the wire: UTF-8, or UTF-16 or UTF-32 when a byte order mark or the zero bytes around a first
// ASCII character say so (RFC 4627 §3).

import { isUtf8 } from 'node:buffer'

/** Stands for bytes that are no text. It is not JSON, so it fails where unparsable text fails, and like it. */
const undecodable = '\ufffd'

const byteOrderMark = 0xfeff

/** The text that the bytes are. What is no text in its encoding is no JSON either. */
export function jsonText(bytes: Buffer): string {
  const wide = wideEncoding(bytes)
  if (wide !== undefined) return decode(wide, bytes)
  if (!isUtf8(bytes)) return undecodable
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
  return bytes.toString('utf8', marked ? 3 : 0)
}

/** The text that the bytes begin with, where the last character may be cut off. */
export function beginningOfJson(bytes: Buffer): string {
  const encoding = wideEncoding(bytes) ?? 'utf-8'
  if (encoding === 'utf-32be' || encoding === 'utf-32le') {
    return decode(encoding, bytes.subarray(0, bytes.length - (bytes.length % 4)))
  }
  return new TextDecoder(encoding).decode(bytes, { stream: true })
}

type WideEncoding = 'utf-16be' | 'utf-16le' | 'utf-32be' | 'utf-32le'

/** Which encoding of more than one byte per character a text begins in, if any. UTF-32 looks like UTF-16 at first. */
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

/** The platform has no decoder of its own for it. Throws a RangeError when the bytes are no UTF-32. */
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
