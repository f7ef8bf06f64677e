// Authorizes access to the endpoints of the query log. The root secret and account keys may read all logs. An admin key
// may read the log of its database and of the databases below. Only the HTTP bearer scheme is accepted.

import type { AccountKey } from '../../query-log/account-keys.ts'
import type { ExportDatabase, ExportRequest } from '../../query-log/export-request.ts'
import type { QueryLog } from '../../query-log/query-log.ts'
import { rootDatabase } from '../../values/value.ts'
import { MessageError, principalOf } from './api.ts'
import type { EndpointCall, Services } from './endpoint.ts'
import { bodyOf, checkType, type Fields, type LogRequest, readLogRequest } from './log-request.ts'

/** A client with access to exports of some databases or region groups. */
export interface LogClient {
  /** The scope of an idempotency token: equal tokens of different subjects are independent. */
  readonly subject: string
  /** The requester, by which exports are served in turn: the operator, or the client's top-level database. */
  readonly requester: string
  readonly isRoot: boolean
  /** The database of an admin key; undefined for the operator's credentials. */
  readonly database: { readonly id: string; readonly path: readonly string[] } | undefined
  mayUseRegion(regionGroup: string): boolean
  maySee(request: ExportRequest): boolean
}

const bearer = /^bearer[ \t]+(\S+)[ \t]*$/i

/** The client of a call's credential. Throws 401 or 403. */
export async function logClient(
  call: EndpointCall,
  services: Services,
  queryLog: QueryLog,
): Promise<LogClient> {
  const secret = bearer.exec(call.request.headers.authorization ?? '')?.[1]
  if (secret === undefined) {
    throw new MessageError('unauthorized', 'A bearer credential is needed in the authorization header.')
  }
  // Another machine may have created the key just before.
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

/** A request for the log of a database or of a whole region group that the client may see. */
export interface LogAccess {
  readonly client: LogClient
  readonly fields: Fields
  readonly wanted: LogRequest
  /** Undefined: a whole region group. */
  readonly database: ExportDatabase | undefined
}

/** Reads and authorizes a log request. Throws 400 for invalid fields, and 401, 403 or 404. */
export async function logAccess(
  call: EndpointCall,
  services: Services,
  queryLog: QueryLog,
): Promise<LogAccess> {
  const client = await logClient(call, services, queryLog)
  checkType(call)
  const fields = bodyOf(call)
  const wanted = readLogRequest(fields, queryLog.regionGroup)
  return { client, fields, wanted, database: allowedDatabase(wanted, client, services, queryLog) }
}

/**
 * The requested database, if the client may see its log; undefined for a whole region group. Throws 403 or 404. The
 * error is the same whether or not a database exists that the client may not see.
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

/** The error for a client that may not see a log. */
export function notAllowed(): MessageError {
  return new MessageError('forbidden', 'The credential gives no access to these logs.')
}
