// Parses the `authorization` header: Basic with the secret as user name, or Bearer. The accepted deviations are facts
// of the protocol.

import { limits } from '../../base/limits.ts'
import { decodeBase64 } from '../../values/base64.ts'

/** The credential of a header, and whether it may be a third-party token (never under Basic). */
interface HeaderCredential {
  readonly text: string
  readonly mayBeToken: boolean
}

/** The credential of a header; undefined when the header is invalid. */
export function parseAuthorization(header: string): HeaderCredential | undefined {
  if (header.length > limits.authorizationCharsMax) return undefined
  const [scheme, text, ...rest] = header.trim().split(/\s+/, 3)
  if (!text || rest.length > 0) return undefined
  switch (scheme) {
    case 'Bearer':
      return { text, mayBeToken: true }
    case 'Basic':
      return decodeBasic(text)
    default:
      return undefined
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Decodes Basic credentials. Removes one colon after the encoded text, which old drivers send, and one after the
 * decoded text.
 */
function decodeBasic(encoded: string): HeaderCredential | undefined {
  const bytes = decodeBase64(withoutColon(encoded))
  if (bytes === undefined) return undefined
  try {
    return { text: withoutColon(utf8.decode(bytes).trim()), mayBeToken: false }
  } catch {
    return undefined
  }
}

function withoutColon(text: string): string {
  return text.endsWith(':') ? text.slice(0, -1) : text
}

/** Returns whether a text has the form of a third-party token rather than of a secret. */
export function looksLikeToken(text: string): boolean {
  return text.startsWith('ey') && text.includes('.')
}
