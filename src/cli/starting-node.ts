// A node over a shared store until it serves: it copies the state, if it has to, and catches up with the log, which may
// take long. Meanwhile it responds with 503 and how far it has come; the log and a terminal tell that, too.

import { readFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import type { Logger } from 'pino'
import type { Config } from '../config/settings.ts'
import type { ListenAddress } from '../http/listener.ts'
import { StartingService } from '../http/starting.ts'
import { type CopyProgress, copiedShare } from '../kv/postgres/copy-state.ts'
import { prepareStore } from '../open-store.ts'
import { withProgress } from './progress.ts'

/** Clients hear of a copy in steps of this share. */
const percent = 100

export class StartingNode {
  readonly #config: Config
  readonly #log: Logger
  readonly #service: StartingService
  /** Of the keys to copy; undefined while nothing is copied. */
  #copied: CopyProgress | undefined

  /** Throws when the files of the certificate cannot be read. */
  constructor(config: Config, log: Logger) {
    this.#config = config
    this.#log = log
    const { tlsCert, tlsKey } = config
    const isSecure = tlsCert !== undefined && tlsKey !== undefined
    const tls = isSecure && { tls: { cert: readFileSync(tlsCert), key: readFileSync(tlsKey) } }
    this.#service = new StartingService(() => this.#progress(), tls || {})
  }

  /** Accepts connections, which get 503; resolves with the port. */
  listen(address: ListenAddress): Promise<number> {
    return this.#service.listen(address)
  }

  /** Instead of {@link listen}: returns what serves connections that the supervisor has accepted. */
  receive(): (connection: Socket) => void {
    return this.#service.receive()
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

  /** Gives the port free. */
  close(): Promise<void> {
    return this.#service.close()
  }

  #progress(): string {
    if (this.#copied === undefined) return 'it catches up with the store'
    const share = copiedShare(this.#copied)
    const sofar = share === undefined ? `${this.#copied.keys} rows` : `${Math.floor(share * percent)} %`
    return `it copies the store, ${sofar} so far`
  }
}
