// The table of protocols: an endpoint for queries in each language.

import type { Protocol } from './protocol.ts'
import { version4Protocol } from './request-headers.ts'
import { version10Protocol } from './version10-headers.ts'

/** One for each language that the service speaks. */
export const protocols: readonly Protocol[] = [version4Protocol, version10Protocol]
