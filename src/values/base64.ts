// Encodes and decodes base64, with the runtime's methods where these exist (Node 25 and later, browsers since 2025),
// otherwise `atob` and `btoa`, with the same results.

/** Standard base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  if (typeof bytes.toBase64 === 'function') return bytes.toBase64()
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** Encodes without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  if (typeof bytes.toBase64 === 'function') {
    return bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
  }
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/**
 * Accepts standard and URL-safe base64, also mixed, with or without padding. Returns undefined if the text is not
 * base64.
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  // The runtime's decoders skip white space, but the protocol does not allow it.
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) <= 0x20) return undefined
  try {
    return readStandard(text.replaceAll('-', '+').replaceAll('_', '/'))
  } catch {
    return undefined
  }
}

/** Throws when the text is not base64. */
function readStandard(text: string): Uint8Array<ArrayBuffer> {
  if (typeof Uint8Array.fromBase64 === 'function') return Uint8Array.fromBase64(text)
  const binary = atob(text)
  const bytes = new Uint8Array(binary.length)
  for (let at = 0; at < binary.length; at++) bytes[at] = binary.charCodeAt(at)
  return bytes
}
