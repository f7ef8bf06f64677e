// Bytes as base64 text: read in either alphabet, with or without padding; written in the standard one, padded.

/** Bytes as standard base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  return bytes.toBase64()
}

/** The bytes of a base64 text, standard or URL-safe or mixed, padding optional; undefined when it is none. */
export function decodeBase64(text: string): Uint8Array | undefined {
  // fromBase64 skips white space, which the protocol does not allow.
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) <= 0x20) return undefined
  try {
    return Uint8Array.fromBase64(text.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return undefined
  }
}
