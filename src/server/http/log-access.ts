// Who may use the endpoints of the query log: the root secret, account keys, and admin keys of a database for that
// database and those in it; and of which database a client asks for the log, and whether it may see that. HTTP bearer only.

import type { AccountKey } from '../../query-log/account-keys.ts'
import type { ExportDatabase, ExportRequest } from '../../query-log/export-request.ts'
import type { QueryLog } from '../../query-log/query-log.ts'
import { rootDatabase } from '../../values/value.ts'
import { MessageError, principalOf } from './api.ts'
import type { EndpointCall, Services } from './endpoint.ts'
import { bodyOf, checkType, type Fields, type LogRequest, readLogRequest } from './log-request.ts'

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
  services: Services,
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
  const principal = await principalOf(call, services, `Bearer ${secret}`)
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

/** What a client asks of the log of a database or a whole region group that it may see. */
export interface AllowedRequest {
  readonly client: LogClient
  readonly fields: Fields
  readonly wanted: LogRequest
  /** Undefined: a whole region group. */
  readonly database: ExportDatabase | undefined
}

/** Reads what a call asks for. Throws what is wrong with it, and 401, 403 or 404. */
export async function allowedRequest(
  call: EndpointCall,
  services: Services,
  queryLog: QueryLog,
): Promise<AllowedRequest> {
  const client = await logClient(call, services, queryLog)
  checkType(call)
  const fields = bodyOf(call)
  const wanted = readLogRequest(fields, queryLog.regionGroup)
  return { client, fields, wanted, database: allowedDatabase(wanted, client, services, queryLog) }
}

/**
 * The database asked for, if the client may see its log; undefined when a whole region group is asked for. Throws 403
 * or 404; whether other databases exist is nothing a client learns.
 */
function allowedDatabase(
  { database, regionGroup }: LogRequest,
  client: LogClient,
  { engine }: Services,
  queryLog: QueryLog,
): ExportDatabase | undefined {
  if (!database) {
    if (!client.mayUseRegion(regionGroup)) throw notAllowed()
    return undefined
  }
  const own = client.database
  const isHere = regionGroup === queryLog.regionGroup
  const isAllowed = own
    ? isHere && own.path.every((name, level) => name === database.names[level])
    : client.mayUseRegion(regionGroup)
  if (!isAllowed) throw notAllowed()
  const found = isHere ? engine.databasesAlong(database.names) : undefined
  if (!found) throw new MessageError('not found', `There is no database ${database.path}.`)
  return { ...database, ids: found.ids.map(String), since: Math.ceil(found.since / 1000) }
}

/** The refusal of who may not see a log. */
export function notAllowed(): MessageError {
  return new MessageError('forbidden', 'The credential gives no access to these logs.')
}
