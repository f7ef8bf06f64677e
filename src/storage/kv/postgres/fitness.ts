// Checks at the start of a node whether the database at an address is suitable. With an unsuitable database, the node
// would start but fail from time to time.

import { StoreUnavailableError } from '../errors.ts'
import { stateOf } from './failures.ts'
import { PostgresSession, type RecordLocation } from './session.ts'

/**
 * Maximum number of connections of one process, including the connection that counts rows during a copy of the state.
 */
const sessionsMax = 6
/**
 * Maximum duration of a statement of these checks, in milliseconds. A pooler with too few connections delays
 * statements.
 */
const patienceMs = 3_000
/** SQLSTATE of a connection above a limit: of the role, the database or the server. */
const tooManyState = '53300'

/**
 * Throws {@link StoreUnavailableError} when the database allows fewer connections than a node needs, or is behind a
 * pooler that changes the session between transactions. `session` is the first of the connections.
 */
export async function assertFit(
  session: PostgresSession,
  location: RecordLocation,
  node: string,
): Promise<void> {
  const own = await backendOf(session)
  const opening = Array.from({ length: sessionsMax - 1 }, () =>
    PostgresSession.open(location, node, patienceMs),
  )
  const opened = await Promise.allSettled(opening)
  const others = opened.flatMap(each => (each.status === 'fulfilled' ? [each.value] : []))
  try {
    // Poolers send their clients process numbers of their own.
    if (own !== session.processId && (await isShared(own, others)))
      throw new StoreUnavailableError(
        'the address of the store leads to a connection pooler in transaction mode: set its pool_mode to session, or use the address of PostgreSQL itself',
      )
    const failed = opened.find(each => each.status === 'rejected')
    if (failed) throw tooFewSessions(failed.reason)
  } finally {
    // The connections of the check are closed before the node opens its own, so that the limit of the database does not
    // count both.
    await Promise.all(others.map(other => other.end()))
  }
}

/** Returns whether the server process of an idle session works for another session that is in a transaction. */
async function isShared(own: number, others: readonly PostgresSession[]): Promise<boolean> {
  const begun = others.map(async other => {
    const [, backend] = await Promise.all([other.query('BEGIN'), backendOf(other)])
    return backend
  })
  const backends = await Promise.allSettled(begun)
  return backends.some(each => each.status === 'fulfilled' && each.value === own)
}

async function backendOf(session: PostgresSession): Promise<number> {
  const [row] = await session.query('SELECT pg_backend_pid() AS pid')
  return Number(row?.pid)
}

/** The error to report when the database allows no more connections; other errors unchanged. */
function tooFewSessions(cause: unknown): unknown {
  if (!(cause instanceof StoreUnavailableError) || stateOf(cause.cause) !== tooManyState) return cause
  return new StoreUnavailableError(
    `a node needs ${sessionsMax} connections to its database, for each of its processes, and gets fewer: ${cause.message}`,
    { cause },
  )
}
