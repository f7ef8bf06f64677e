// Global ids of databases as text: z-base-32 of the 64 bits, most significant first, 13 characters of which the
// last carries the low four bits shifted left by one (a fact of the protocol). They stand in the audiences of
// access providers, so they never change.

const alphabet = 'ybndrfg8ejkmcpqxot1uwisza345h769'
const textLength = 13

/** The 13 characters that name a database permanently. */
export function encodeGlobalId(id: bigint): string {
  let rest = BigInt.asUintN(64, id) << 1n
  let text = ''
  for (let place = 0; place < textLength; place++) {
    text = alphabet.charAt(Number(rest & 31n)) + text
    rest >>= 5n
  }
  return text
}

/** The id a text names, or undefined when it is not exactly what {@link encodeGlobalId} writes. */
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
