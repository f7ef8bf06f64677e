// The secret of a store. The keys that seal cursors and event sources are derived from this secret.

import { metaKey } from '../keys/keyspace.ts'

/**
 * The key under which the secret is stored. If the secret is missing, the store generates another one, and rejects
 * everything that was sealed with an earlier secret.
 */
export const secretKeyRow: Uint8Array = metaKey('secret key')
