// Who may use the endpoints of the query log: the root secret, account keys, and admin keys of a database for that
// database and those in it. HTTP bearer only.

import type { AccountKey } from '../query-log/account-keys.ts'
import type { ExportRequest } from '../query-log/export-request.ts'
import type { QueryLog } from '../query-log/query-log.ts'
import { rootDatabase } from '../values/value.ts'
import type { EndpointCall } from './call.ts'
import type { Services } from './endpoint.ts'
import { MessageError } from './message-answer.ts'

/** Someone who may ask for exports, of some databases or of some region groups. */
export interface LogClient {
  /** Keeps the idempotency tokens of different owners apart. */
  readonly subject: string
  /** With whom others take turns: the operator, or the outermost database, whichever of those in it asks. */
  readonly requester: string
  readonly isRoot: boolean
  /** The database whose admin it is; undefined for the operator's credentials. */
  readonly database: { readonly id: string; readonly path: readonly string[] } | undefined
  mayUseRegion(regionGroup: string): boolean
  maySee(request: ExportRequest): boolean
}

const bearer = /^bearer[ \t]+(\S+)[ \t]*$/i

/** The client that a call's credential stands for. Throws 401 or 403. */
export async function logClient(
  call: EndpointCall,
  { engine }: Services,
  queryLog: QueryLog,
): Promise<LogClient> {
  const secret = bearer.exec(call.request.headers.authorization ?? '')?.[1]
  if (secret === undefined) {
    throw new MessageError('unauthorized', 'A bearer credential is needed in the authorization header.')
  }
  // It may have been made on another machine a moment ago.
  await queryLog.fresh()
  const key = queryLog.accountKeys.find(secret)
  if (key) return operator(key, false)
  const principal = await engine.whoIs(`Bearer ${secret}`)
  if (!principal)
    throw new MessageError('unauthorized', 'The credential is unknown, has expired or was revoked.')
  if (!principal.isAdmin) {
    throw new MessageError('forbidden', 'Query logs need the root secret, an account key or an admin key.')
  }
  if (principal.database === rootDatabase) return operator(undefined, principal.isRoot)
  const id = String(principal.database)
  return {
    subject: `database ${id}`,
    requester: `database ${principal.place.names[0]}`,
    isRoot: false,
    database: { id, path: principal.place.names },
    mayUseRegion: () => false,
    maySee: ({ database }) => database?.ids.includes(id) === true,
  }
}

function operator(key: AccountKey | undefined, isRoot: boolean): LogClient {
  const mayUseRegion = (regionGroup: string) => key?.regionGroups?.includes(regionGroup) ?? true
  return {
    subject: 'account',
    requester: 'account',
    isRoot,
    database: undefined,
    mayUseRegion,
    maySee: ({ regionGroup }) => mayUseRegion(regionGroup),
  }
}
