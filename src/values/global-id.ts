// Global ids of databases as text: the 64 bits in z-base-32, most significant first. There are 13 characters, and the
// last one contains the low four bits shifted left by one (a fact of the protocol). Audiences of access providers
// contain them, so they never change.

const alphabet = 'ybndrfg8ejkmcpqxot1uwisza345h769'
const textLength = 13

/** The permanent 13-character id of a database. */
export function encodeGlobalId(id: bigint): string {
  let rest = BigInt.asUintN(64, id) << 1n
  let text = ''
  for (let place = 0; place < textLength; place++) {
    text = alphabet.charAt(Number(rest & 31n)) + text
    rest >>= 5n
  }
  return text
}

/** The id of a text, or undefined when the text is not exactly what {@link encodeGlobalId} returns. */
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
