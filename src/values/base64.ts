// Base64 encoding of bytes. It uses the runtime's own methods where they exist (Node 25 and later, browsers since
// 2025). In older runtimes `atob` and `btoa` accept and produce the same texts.

/** Bytes as standard base64 with padding. */
export function encodeBase64(bytes: Uint8Array): string {
  if (typeof bytes.toBase64 === 'function') return bytes.toBase64()
  let binary = ''
  for (const byte of bytes) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** Bytes as URL-safe base64 without padding. */
export function encodeBase64Url(bytes: Uint8Array): string {
  if (typeof bytes.toBase64 === 'function') {
    return bytes.toBase64({ alphabet: 'base64url', omitPadding: true })
  }
  return encodeBase64(bytes).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}

/** Decodes base64, standard or URL-safe or mixed, with optional padding. Undefined when the text is not base64. */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> | undefined {
  // The runtime skips white space, which the protocol does not allow.
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
