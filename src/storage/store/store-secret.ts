// The secret of a store, from which the keys follow that seal cursors and event sources.

import { metaKey } from '../keys/keyspace.ts'

/** Where the secret is stored. Without it the store draws a new one: what earlier ones have sealed is then rejected. */
export const secretKeyRow: Uint8Array = metaKey('secret key')
