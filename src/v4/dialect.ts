// Which version of the language applies within a session.

import type { Session } from '../model/session.ts'
import { type ApiVersion, isApiVersion } from './wire/version.ts'

/** The version that the client of a session speaks; where it speaks another language, the one that its drivers ask for. */
export function apiVersionOf({ dialect }: Session): ApiVersion {
  return isApiVersion(dialect) ? dialect : '4'
}
