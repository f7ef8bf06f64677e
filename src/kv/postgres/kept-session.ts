// A connection that is opened when it is needed, and anew when it has failed.

import { StoreUnavailableError } from '../errors.ts'
import type { Session } from './session.ts'

export class KeptSession {
  readonly #open: () => Promise<Session>
  #session: Session | undefined
  #opening: Promise<Session> | undefined
  #isClosed = false

  /** `open` connects, and makes sure that the connection leads to the right store. */
  constructor(open: () => Promise<Session>) {
    this.#open = open
  }

  /** The connection, also for several callers at a time. Rejects with {@link StoreUnavailableError}. */
  async sound(): Promise<Session> {
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

  /** Runs single statements on it. */
  async use<T>(use: (session: Session) => Promise<T>): Promise<T> {
    return use(await this.sound())
  }

  /** Runs `use`, which may begin a transaction, on a connection of its own. */
  async alone<T>(use: (session: Session) => Promise<T>): Promise<T> {
    const session = await this.#open()
    try {
      return await use(session)
    } finally {
      session.close()
    }
  }

  /** The connection if there is one that works; nothing is opened. */
  get current(): Session | undefined {
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
