// Which database's log a client asks for, and whether it may see it.

import type { ExportedDatabase } from '../query-log/export-request.ts'
import type { QueryLog } from '../query-log/query-log.ts'
import type { Services } from './endpoint.ts'
import type { LogClient } from './log-access.ts'
import type { LogRequest } from './log-request.ts'
import { MessageError } from './message-answer.ts'

/**
 * The database asked for, if the client may see its log; undefined when a whole region group is asked for. Throws 403
 * or 404; whether other databases exist is nothing a client learns.
 */
export function allowedDatabase(
  { database, regionGroup }: LogRequest,
  client: LogClient,
  { engine }: Services,
  queryLog: QueryLog,
): ExportedDatabase | undefined {
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
