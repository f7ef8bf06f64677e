// Determines the API version that applies in a session.

import type { Session } from '../model/session.ts'
import { type ApiVersion, isApiVersion, isAtLeast } from './wire/version.ts'

/** The API version of the session's client. For clients of another language it is the version that its drivers use. */
export function apiVersionOf({ dialect }: Session): ApiVersion {
  return isApiVersion(dialect) ? dialect : '4'
}

/** Returns whether the API version is `minimum` or newer. */
export function speaks(session: Session, minimum: ApiVersion): boolean {
  return isAtLeast(apiVersionOf(session), minimum)
}
