// The settings of the sessions of a store in PostgreSQL.

/**
 * A connection is treated as broken when a statement of a commit takes longer. Must exceed {@link lockTimeoutMaxMs}:
 * the database must end a wait for the lock on the head before the node stops waiting. Otherwise, the database could
 * later give the lock to a node that no longer waits.
 */
export const commitTimeoutMs = 8_000
/** A statement then stops waiting for the lock on the head, fails, and is queued again. */
const lockTimeoutMaxMs = commitTimeoutMs - 1_000
/**
 * Difference between the time that a session waits for the lock on the head, and the time that another session may hold
 * it idly.
 */
const lockMarginMs = 2_000

/**
 * The settings of every session. `holdMs`: see `RecordLocation`. `idle_in_transaction_session_timeout`: a node that
 * stalls during a commit must not lock the head for long. `lock_timeout`: the database must drop the waiting request of
 * a node that has disappeared. `synchronous_commit`: acknowledged commits must be on disk (and on synchronous
 * standbys), regardless of the server's default. Only rows without lasting data do not need a standby
 * (`PostgresSession.locally`). There is no `statement_timeout`: if such a timeout ends the wait for a synchronous
 * standby, PostgreSQL acknowledges a commit that the standby does not have.
 */
export function sessionSettings(holdMs: number): readonly string[] {
  return [
    `SET idle_in_transaction_session_timeout = ${holdMs}`,
    `SET lock_timeout = ${Math.min(holdMs + lockMarginMs, lockTimeoutMaxMs)}`,
    'SET synchronous_commit = on',
    'SET client_min_messages = warning',
  ]
}

/**
 * Limit how long the database waits for a process that does not read its results, or for a machine that has disappeared
 * during a statement. {@link sessionSettings} does not limit these waits.
 */
export function networkSettings(holdMs: number): readonly string[] {
  const seconds = Math.ceil(holdMs / 1000)
  return [
    `SET tcp_user_timeout = ${holdMs}`,
    `SET tcp_keepalives_idle = ${seconds}`,
    'SET tcp_keepalives_interval = 1',
    'SET tcp_keepalives_count = 3',
  ]
}
