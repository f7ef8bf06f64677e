// The data directory that a service holds, looked for at its path as long as it runs: should another one be there, what was
// started next would open that, and what is acknowledged might be in files that are never found again.

import type { Logger } from 'pino'
import type { Config } from '../app/config/settings.ts'
import { systemTimers } from '../base/timers.ts'
import { assertIdentity, identityOf } from '../storage/kv/folder-identity.ts'

/** How often, in milliseconds. */
const lookMs = 1000

export class HeldFolder {
  readonly #data: string
  readonly #log: Logger
  readonly #onFatal: () => void
  #identity: string
  /** Looks no more. */
  readonly letGo: () => void

  /** This process has claimed the folder. `onFatal` ends it, with its workers and its slow lane. */
  constructor({ data }: Pick<Config, 'data'>, log: Logger, onFatal: () => void) {
    this.#data = data
    this.#log = log
    this.#onFatal = onFatal
    this.#identity = identityOf(data)
    this.letGo = systemTimers.every(lookMs, () => this.#look())
  }

  get identity(): string {
    return this.#identity
  }

  /** The store has been opened, so that all its files are there. */
  complete(): void {
    const identity = identityOf(this.#data)
    this.#look()
    this.#identity = identity
  }

  /** Calls `onFatal` when the folder at the path is another one. */
  #look(): void {
    try {
      assertIdentity(this.#data, this.#identity)
    } catch (cause) {
      this.#log.fatal((cause as Error).message)
      this.#onFatal()
    }
  }
}
