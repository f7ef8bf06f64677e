// Signs values that Terrarium issues and later receives: download URLs and page tokens. Signatures are compared as
// text, so every changed character makes a signature invalid.

import { createHmac, timingSafeEqual } from 'node:crypto'
import { assert } from '../base/assert.ts'
import type { Bytes } from '../storage/kv/kv-contract.ts'

/** Exported files are downloaded below this path. */
export const filesPath = '/api/v1/logs/files/'

/** Signs and verifies download links and tokens. While the key cannot be loaded, no signature is valid. */
export class Signer {
  readonly #loadKey: () => Promise<Bytes>
  #key: Bytes | undefined

  /** `loadKey` resolves with the key that all processes with the same query log use. */
  constructor(loadKey: () => Promise<Bytes>) {
    this.#loadKey = loadKey
  }

  /** Loads the key. Must be called before signing. Rejects while the key cannot be loaded. */
  async ready(): Promise<void> {
    this.#key ??= await this.#loadKey()
  }

  /** Returns the path and the query string for downloading a file until `expires` (seconds since the Unix epoch). */
  target(name: string, expires: number): string {
    const path = `${filesPath}${name}?expires=${expires}`
    return `${path}&signature=${this.#sign(path)}`
  }

  /**
   * Returns the time at which a download target expires, in seconds since the Unix epoch. Returns undefined if this
   * service has not signed the target.
   */
  expiryOf(name: string, target: string): number | undefined {
    const expires = /\?expires=(\d{1,12})&/.exec(target)?.[1]
    if (expires === undefined || this.#key === undefined) return undefined
    return isSame(target, this.target(name, Number(expires))) ? Number(expires) : undefined
  }

  /** Creates a token that contains `text`. The holder of the token can read the text but cannot change it. */
  seal(text: string): string {
    return `${Buffer.from(text).toString('base64url')}.${this.#sign(`page ${text}`)}`
  }

  /** Returns the text in a token; undefined if this service has not issued the token. */
  open(token: string): string | undefined {
    if (this.#key === undefined) return undefined
    const text = Buffer.from(token.split('.', 1)[0] as string, 'base64url').toString()
    return isSame(token, this.seal(text)) ? text : undefined
  }

  #sign(text: string): string {
    assert(this.#key !== undefined, 'the key is loaded before anything is signed')
    return createHmac('sha256', this.#key).update(text).digest('hex')
  }
}

function isSame(left: string, right: string): boolean {
  const [a, b] = [Buffer.from(left), Buffer.from(right)]
  return a.length === b.length && timingSafeEqual(a, b)
}
