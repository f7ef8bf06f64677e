// A connection that is opened when it is needed, and anew when it has failed.

import { StoreUnavailableError } from '../errors.ts'
import type { PostgresSession, ResultRow } from './session.ts'

export class KeptSession {
  readonly #open: () => Promise<PostgresSession>
  #session: PostgresSession | undefined
  #opening: Promise<PostgresSession> | undefined
  #isClosed = false

  /** `open` connects, and makes sure that the connection leads to the right store. */
  constructor(open: () => Promise<PostgresSession>) {
    this.#open = open
  }

  /** The connection, also for several callers at a time. Rejects with {@link StoreUnavailableError}. */
  async sound(): Promise<PostgresSession> {
    if (this.#session?.isSound) return this.#session
    if (this.#isClosed) throw new StoreUnavailableError('the store is closed')
    this.#opening ??= this.#open()
      .then(session => {
        this.#session = session
        if (this.#isClosed) session.close()
        return session
      })
      .finally(() => {
        this.#opening = undefined
      })
    return this.#opening
  }

  /** Runs a single statement on it, which gets the names of our tables by {@link PostgresSession.table}. */
  async query(
    statement: (table: (name: string) => string) => string,
    values: readonly unknown[],
  ): Promise<readonly ResultRow[]> {
    const session = await this.sound()
    return session.query(
      statement(name => session.table(name)),
      values,
    )
  }

  /** Runs `use`, which may begin a transaction, on a connection of its own. */
  async alone<T>(use: (session: PostgresSession) => Promise<T>): Promise<T> {
    const session = await this.#open()
    try {
      return await use(session)
    } finally {
      session.close()
    }
  }

  /** The connection if there is one that works; nothing is opened. */
  get current(): PostgresSession | undefined {
    return this.#session?.isSound ? this.#session : undefined
  }

  /** Gives up what is under way; the next who asks gets a new connection. */
  drop(): void {
    this.#session?.close()
  }

  /** Ends it; no other is opened. */
  close(): void {
    this.#isClosed = true
    this.drop()
  }
}
