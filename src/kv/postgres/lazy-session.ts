// A connection that is opened when it is needed, and anew when it has failed. For what is rare and may fail.

import { StoreUnavailableError } from '../errors.ts'
import { type RecordLocation, Session } from './session.ts'

export class LazySession {
  readonly #location: RecordLocation
  readonly #node: string
  #opening: Promise<Session> | undefined
  #isClosed = false

  constructor(location: RecordLocation, node: string) {
    this.#location = location
    this.#node = node
  }

  /** Runs single statements; several callers share the connection. Throws `StoreUnavailableError`. */
  async use<T>(use: (session: Session) => Promise<T>): Promise<T> {
    return use(await this.#sound())
  }

  /** Runs `use`, which may begin a transaction, on a connection of its own. */
  alone<T>(use: (session: Session) => Promise<T>): Promise<T> {
    return Session.use(this.#location, this.#node, use)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    const session = await this.#opening?.catch(() => undefined)
    session?.close()
  }

  async #sound(): Promise<Session> {
    const known = await this.#opening?.catch(() => undefined)
    if (known?.isSound) return known
    if (this.#isClosed) throw new StoreUnavailableError('the store is closed')
    this.#opening = Session.open(this.#location, this.#node)
    return this.#opening
  }
}
