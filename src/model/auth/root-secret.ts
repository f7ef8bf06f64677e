// The root secret, which the operator configures as plain text or as a bcrypt hash. It has admin rights at the top of
// the hierarchy and belongs to no document.

import { hash, timingSafeEqual } from 'node:crypto'
import type { Memo } from '../../base/pending.ts'
import { rootDatabase } from '../../values/value.ts'
import { isUsableHash } from './bcrypt.ts'
import { parseScopedSecret, parseSuffix, type ScopedSecret } from './scope.ts'
import type { SecretVerifier } from './secret.ts'

export class RootSecret {
  readonly #verifier: SecretVerifier
  /** Set when the configured text is a hash. */
  readonly #storedHash: string | undefined
  readonly #digest: Buffer
  readonly #length: number

  constructor(configured: string, verifier: SecretVerifier) {
    this.#verifier = verifier
    this.#storedHash = isUsableHash(configured) ? configured : undefined
    this.#digest = digest(configured)
    this.#length = configured.length
  }

  /** The suffix of a credential whose secret is the root secret; undefined for other secrets. May throw Pending. */
  match(text: string, memo: Memo): ScopedSecret | undefined {
    if (this.#storedHash !== undefined) {
      const scoped = parseScopedSecret(text)
      return this.#verifier.verify(memo, rootDatabase, [scoped.secret], this.#storedHash) ? scoped : undefined
    }
    // A plain root secret may contain any characters, even colons, so its end is determined by its length.
    const secret = text.slice(0, this.#length)
    const rest = text.slice(this.#length)
    if (rest !== '' && !rest.startsWith(':')) return undefined
    if (!timingSafeEqual(digest(secret), this.#digest)) return undefined
    return { secret, scope: parseSuffix(rest.slice(1)) }
  }
}

function digest(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}
