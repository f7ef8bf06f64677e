// Bytes as texts, for keys of maps.

const scratchBytes = 4096
/** V8 makes the memory that a Buffer over a small Uint8Array needs only when asked, which costs a microsecond. */
const scratch = Buffer.alloc(scratchBytes)

/** A text with one character for each byte, so that equal texts stand for equal bytes. */
export function byteText(bytes: Uint8Array): string {
  const { length } = bytes
  if (length > scratchBytes) return Buffer.from(bytes).toString('latin1')
  scratch.set(bytes)
  return scratch.toString('latin1', 0, length)
}

/** The bytes that a {@link byteText} stands for. */
export function textBytes(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, 'latin1'))
}
