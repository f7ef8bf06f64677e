// Integers from 0 to 2^53 - 1 with a variable number of bytes (segment-format.ts).

/** Maximum number of bytes of an integer. */
export const varintBytesMax = 8

/** Writes an integer at an offset and returns the offset after it. */
export function writeVarint(bytes: Uint8Array, at: number, value: number): number {
  let rest = value
  while (rest > 0x7f_ff_ff_ff) {
    bytes[at++] = (rest & 0x7f) | 0x80
    rest = Math.floor(rest / 0x80)
  }
  while (rest > 0x7f) {
    bytes[at++] = (rest & 0x7f) | 0x80
    rest >>>= 7
  }
  bytes[at] = rest
  return at + 1
}

/** Reads integers one after the other. Missing bytes at the end count as 0. */
export class VarintReader {
  readonly bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at: number) {
    this.bytes = bytes
    this.at = at
  }

  next(): number {
    const { bytes } = this
    let byte = bytes[this.at++] ?? 0
    if (byte < 0x80) return byte
    let value = byte & 0x7f
    let scale = 0x80
    do {
      byte = bytes[this.at++] ?? 0
      value += (byte & 0x7f) * scale
      scale *= 0x80
    } while (byte >= 0x80)
    return value
  }
}
