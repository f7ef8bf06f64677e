// Tokens: secrets that authenticate as a document.

import { documentRef, map, text, timestamp } from './fields.ts'
import type { Draft, Resource } from './resource.ts'

export const tokenResource: Resource = {
  fields: {
    instance: { check: documentRef, required: true },
    ttl: { check: timestamp },
    data: { check: map },
    hashed_secret: { check: text },
  },
  complete(draft) {
    draft.omitted.add('hashed_secret')
    const kept = draft.rules.keepsTokenSecret ? draft.previous?.fields.get('hashed_secret') : undefined
    if (kept !== undefined) draft.fields.set('hashed_secret', kept)
    if (draft.failures.length === 0 && !draft.fields.has('hashed_secret')) makeTokenSecret(draft)
  },
}

/** Gives a token a new secret. */
export function makeTokenSecret(draft: Pick<Draft, 'session' | 'fields' | 'ref' | 'shown'>): void {
  const { host, memo } = draft.session
  giveSecret(draft, host.logins.newTokenSecret(memo, draft.ref))
}

/** Gives a key or token a secret, which only this response shows. */
export function giveSecret(
  { fields, shown }: Pick<Draft, 'fields' | 'shown'>,
  { hashedSecret, secret }: { readonly hashedSecret: string; readonly secret: string },
): void {
  shown.set('secret', secret)
  fields.set('hashed_secret', hashedSecret)
}
