// The `authorization` header: Basic with the secret as user name, or Bearer. Which oddities are accepted is a fact
// of the protocol.

import { limits } from '../limits.ts'
import { decodeBase64 } from '../values/base64.ts'

/** A presented credential: a text, and whether it may be a third-party token (never under Basic). */
interface Presented {
  readonly text: string
  readonly mayBeToken: boolean
}

/** What a header presents; undefined when that is nothing. */
export function parseAuthorization(header: string): Presented | undefined {
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

/** Drops one colon behind the encoded text (old drivers put it there) and one behind the decoded text. */
function decodeBasic(encoded: string): Presented | undefined {
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

/** Whether a text has the form of a third-party token rather than of a secret. */
export function looksLikeToken(text: string): boolean {
  return text.startsWith('ey') && text.includes('.')
}
