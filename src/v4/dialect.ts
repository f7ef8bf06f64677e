// Which version of the language applies within a session.

import type { Session } from '../model/session.ts'
import { type ApiVersion, isApiVersion, isAtLeast } from './wire/version.ts'

/** The version that the client of a session speaks; where it speaks another language, the one that its drivers ask for. */
export function apiVersionOf({ dialect }: Session): ApiVersion {
  return isApiVersion(dialect) ? dialect : '4'
}

/** Whether that version is `minimum` or newer. */
export function speaks(session: Session, minimum: ApiVersion): boolean {
  return isAtLeast(apiVersionOf(session), minimum)
}
