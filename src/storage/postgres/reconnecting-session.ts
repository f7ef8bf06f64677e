// A connection that is opened on demand, and reopened after a failure.

import { StoreUnavailableError } from '../kv/store-errors.ts'
import type { PostgresSession, ResultRow } from './postgres-session.ts'

function closedError(): StoreUnavailableError {
  return new StoreUnavailableError('the store is closed')
}

export class ReconnectingSession {
  readonly #open: () => Promise<PostgresSession>
  #session: PostgresSession | undefined
  #opening: Promise<PostgresSession> | undefined
  #isClosed = false

  /** `open` connects, and checks that the connection leads to the right store. */
  constructor(open: () => Promise<PostgresSession>) {
    this.#open = open
  }

  /**
   * All callers share the connection, which is opened if necessary. Rejects with {@link StoreUnavailableError} after
   * {@link close}, if the connection is closed while it is opened, or if it cannot be opened.
   */
  async connected(): Promise<PostgresSession> {
    if (this.#session?.isSound) return this.#session
    if (this.#isClosed) throw closedError()
    this.#opening ??= this.#open()
      .then(session => {
        if (this.#isClosed) {
          session.close()
          throw closedError()
        }
        this.#session = session
        return session
      })
      .finally(() => {
        this.#opening = undefined
      })
    return this.#opening
  }

  /** Runs a single statement. `statement` returns its text; the argument is {@link PostgresSession.table}. */
  async query(
    statement: (table: (name: string) => string) => string,
    values: readonly unknown[],
  ): Promise<readonly ResultRow[]> {
    const session = await this.connected()
    return session.query(
      statement(name => session.table(name)),
      values,
    )
  }

  /** Runs `use`, which may begin a transaction, on a separate connection. */
  async withOwnSession<T>(use: (session: PostgresSession) => Promise<T>): Promise<T> {
    const session = await this.#open()
    try {
      return await use(session)
    } finally {
      session.close()
    }
  }

  /** Undefined if no working connection is open. Never opens a connection. */
  get current(): PostgresSession | undefined {
    return this.#session?.isSound ? this.#session : undefined
  }

  /** Aborts running statements. The next caller gets a new connection. */
  drop(): void {
    this.#session?.close()
  }

  /** Running and later calls of {@link connected} reject. */
  close(): void {
    this.#isClosed = true
    this.drop()
  }
}
