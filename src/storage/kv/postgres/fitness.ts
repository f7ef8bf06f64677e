// Whether what an address leads to serves a node: found out once, before it starts, instead of by a node that seems ready and
// then fails now and then.

import { StoreUnavailableError } from '../errors.ts'
import { stateOf } from './failures.ts'
import { PostgresSession, type RecordLocation } from './session.ts'

/** Connections that one process has at most, with the one that counts rows while it copies the state. */
const sessionsMax = 6
/** Milliseconds that a statement may take here; a pooler with too few connections lets it wait. */
const patienceMs = 3_000
/** SQLSTATE of a connection beyond a limit: of the role, the database or the server. */
const tooManyState = '53300'

/**
 * Throws {@link StoreUnavailableError} when the database allows fewer connections than a node needs, or is reached through a
 * pooler that gives each transaction another session. `session` is the first of the connections.
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
    // Poolers draw the numbers that their clients get.
    if (own !== session.processId && (await isShared(own, others)))
      throw new StoreUnavailableError(
        'the address of the store leads to a pooler that keeps transactions, not sessions: set its pool_mode to session, or lead the address to PostgreSQL itself',
      )
    const failed = opened.find(each => each.status === 'rejected')
    if (failed) throw tooFewSessions(failed.reason)
  } finally {
    // Those that the node opens next must not meet them.
    await Promise.all(others.map(other => other.end()))
  }
}

/** Whether the server process of an idle session works for another one that is in a transaction. */
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

/** What to tell when the database gives no more connections; other causes as they are. */
function tooFewSessions(cause: unknown): unknown {
  if (!(cause instanceof StoreUnavailableError) || stateOf(cause.cause) !== tooManyState) return cause
  return new StoreUnavailableError(
    `a node needs ${sessionsMax} connections to its database, for each of its processes, and gets fewer: ${cause.message}`,
    { cause },
  )
}
