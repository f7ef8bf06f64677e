// Encodes lists of small integers as text, for data in source files: base64 VLQ, the encoding of source maps. Each
// character has five bits and a continuation bit; the lowest bit of a number is its sign.

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'

const digitValues = new Uint8Array(128)
for (let value = 0; value < digits.length; value++) digitValues[digits.charCodeAt(value)] = value

/** Packs integers of at most 26 bits. */
export function packNumbers(numbers: Iterable<number>): string {
  let packed = ''
  for (const number of numbers) {
    let rest = number < 0 ? (-number << 1) | 1 : number << 1
    for (; rest > 31; rest >>>= 5) packed += digits[(rest & 31) | 32]
    packed += digits[rest]
  }
  return packed
}

/** Decodes a text made by {@link packNumbers}. */
export function unpackNumbers(packed: string): Int32Array {
  const numbers = new Int32Array(packed.length)
  let count = 0
  let value = 0
  let shift = 0
  for (let index = 0; index < packed.length; index++) {
    const digit = digitValues[packed.charCodeAt(index)] as number
    value |= (digit & 31) << shift
    shift += 5
    if (digit & 32) continue
    numbers[count++] = value & 1 ? -(value >>> 1) : value >>> 1
    value = 0
    shift = 0
  }
  return numbers.subarray(0, count)
}
