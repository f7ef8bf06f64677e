// Derives the keys that authenticate data in the hands of clients, such as cursors, from the secret of the store.

import { createHmac } from 'node:crypto'
import { GenerationCache } from '../../base/generation-cache.ts'
import type { Session } from '../../model/session.ts'
import { compareBytes } from '../../values/order.ts'

/** Upper bound for the cached keys. Each entry contains the secret that the key was derived from. */
const rememberedMax = 1000

const remembered = new GenerationCache<string, { readonly secret: Uint8Array; readonly key: Uint8Array }>(
  rememberedMax,
)

/** The key for a purpose. Throws WriteNeeded if the store has no secret yet. */
export function sealingKey(purpose: string, { host, memo, transaction }: Session): Uint8Array {
  const secret = transaction.secretKey(() => host.logins.newKey(memo))
  const known = remembered.get(purpose)
  if (known !== undefined && compareBytes(known.secret, secret) === 0) return known.key
  const key = createHmac('sha256', secret).update(purpose).digest()
  remembered.set(purpose, { secret, key })
  return key
}
