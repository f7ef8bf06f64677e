// A node over a shared store until it serves: it copies the state, if it has to, and catches up with the log, which may
// take long. Meanwhile it responds with 503 and how far it has come; the log and a terminal tell that, too.

import type { Logger } from 'pino'
import type { Config } from '../app/config/settings.ts'
import { prepareStore } from '../app/open-store.ts'
import { tlsOf } from '../app/server.ts'
import type { Listener } from '../server/http/listener.ts'
import { createStartingService } from '../server/http/starting.ts'
import { type CopyProgress, copiedShare } from '../storage/kv/postgres/copy-state.ts'
import { withProgress } from './progress.ts'

/** Clients hear of a copy in steps of this share. */
const percent = 100

export class StartingNode {
  readonly #config: Config
  readonly #log: Logger
  /** Responds with 503 until it is closed. */
  readonly listener: Listener
  /** Of the keys to copy; undefined while nothing is copied. */
  #copied: CopyProgress | undefined

  /** Throws when the files of the certificate cannot be read. */
  constructor(config: Config, log: Logger) {
    this.#config = config
    this.#log = log
    this.listener = createStartingService(() => this.#progress(), tlsOf(config))
  }

  /** Makes the data directory ready to be opened. Throws `StoreUnavailableError`. */
  async prepare(): Promise<void> {
    this.#copied = undefined
    await withProgress(
      'copy of the store',
      () => (this.#copied && copiedShare(this.#copied)) ?? 0,
      () =>
        prepareStore(this.#config, this.#log, progress => {
          this.#copied = progress
        }),
    )
    this.#copied = undefined
  }

  #progress(): string {
    if (this.#copied === undefined) return 'it catches up with the store'
    const share = copiedShare(this.#copied)
    const sofar = share === undefined ? `${this.#copied.keys} rows` : `${Math.floor(share * percent)} %`
    return `it copies the store, ${sofar} so far`
  }
}
