// Names and ids as text: the syntax of schema object names, document ids, and global ids of databases.

import { int64Max, int64Min } from './value.ts'

/** Letters of all scripts, marks, digits, connectors, and a few signs: the protocol's `[;@+$\-_.!~%\w]+`. */
const namePattern = /^[;@+$\-_.!~%\p{Alphabetic}\p{Mark}\p{Nd}\p{Pc}\p{Join_Control}]+$/u

/** Checks the syntax only: a valid name may still be reserved ({@link isReservedName}). */
export function isValidName(text: string): boolean {
  return namePattern.test(text)
}

/** No schema object may have a reserved name. */
export function isReservedName(text: string): boolean {
  return text === '_'
}

/** Digits of the greatest 64-bit integer. */
const significantCharsMax = 19

/** Returns the reason if the text is not an id. */
export function parseId(text: string): bigint | 'not numeric' | 'too large' {
  const from = text.charCodeAt(0) === 0x2d ? 1 : 0
  let significant = from
  for (let at = from; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 0x30
    if (digit < 0 || digit > 9) return 'not numeric'
    if (digit === 0 && significant === at) significant++
  }
  if (text.length === from) return 'not numeric'
  if (text.length - significant > significantCharsMax) return 'too large'
  const id = BigInt(text.slice(significant) || '0')
  const signed = from === 1 ? -id : id
  return signed < int64Min || signed > int64Max ? 'too large' : signed
}

// In the shape of a query (its text without values), each name of a known schema object is replaced by a mark: one
// character that identifies the name. The query log writes `?` instead of the mark, and stores the positions of the
// names with the record.
//
// Marks are control characters. Shapes contain no other control characters, so a mark cannot be confused with text. The
// marks are Latin-1 characters, so V8 can store a shape with one byte per character.
const firstMark = 0x80

/** Maximum number of different names that have marks in one shape. */
export const markedNamesMax = 32

/** `index`: the position in the list of names. Returns undefined if the index is negative, or too large for a mark. */
export function markOf(index: number): string | undefined {
  return index >= 0 && index < markedNamesMax ? String.fromCharCode(firstMark + index) : undefined
}

/** The index of the name that the mark `unit` (a UTF-16 unit) represents; undefined if `unit` is not a mark. */
export function markedName(unit: number): number | undefined {
  const index = unit - firstMark
  return index >= 0 && index < markedNamesMax ? index : undefined
}

export const anyMark = /[\x80-\x9f]/g

const alphabet = 'ybndrfg8ejkmcpqxot1uwisza345h769'
const textLength = 13

/**
 * Global ids of databases are the 64 bits in z-base-32, most significant first. Their 13 characters have room for 65
 * bits; the protocol requires that the lowest bit of the last character is 0. Audiences of access providers contain
 * global ids, so neither the ids nor this encoding may change.
 */
export function encodeGlobalId(id: bigint): string {
  let rest = BigInt.asUintN(64, id) << 1n
  let text = ''
  for (let length = 0; length < textLength; length++) {
    text = alphabet.charAt(Number(rest & 31n)) + text
    rest >>= 5n
  }
  return text
}

/** Returns undefined if the text is not a result of {@link encodeGlobalId}. */
export function decodeGlobalId(text: string): bigint | undefined {
  if (text.length !== textLength) return undefined
  let bits = 0n
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit < 0) return undefined
    bits = (bits << 5n) | BigInt(digit)
  }
  return (bits & 1n) === 0n ? bits >> 1n : undefined
}
