// Reads a data directory to which this process never writes, while another process may commit: LMDB, and the newer rows
// that are only in the commit log. Sends nothing to the committing process.

import { join } from 'node:path'
import type { KeyValueStore, View } from '../kv/kv-contract.ts'
import { StoreUnavailableError } from '../kv/store-errors.ts'
import { type Environment, openFolder } from '../lmdb/folder.ts'
import type { Trees } from '../lmdb/trees.ts'
import { LmdbView } from '../lmdb/view.ts'
import { LogReader } from './log-reader.ts'
import { LoggedView } from './logged-view.ts'
import type { ApplyLag } from './position.ts'
import { verifyLog } from './replay.ts'
import { logFolder } from './segment-files.ts'

interface FollowerOptions {
  readonly path: string
  /** See {@link LogReader}. */
  readonly durable?: () => number
  /**
   * Calls `listener` after each commit, and returns a function that removes it. If undefined, no commits are reported.
   */
  readonly watch?: (listener: () => void) => () => void
  /** Called once, after the store has been closed. */
  readonly onClose?: () => void | Promise<void>
}

/** `transact` rejects. Throws {@link StoreUnavailableError}. */
export function openFollower(options: FollowerOptions): FollowerStore {
  return new FollowerStore(options)
}

class FollowerStore implements KeyValueStore {
  readonly #options: FollowerOptions
  readonly #root: Environment
  readonly #trees: Trees
  readonly #log: LogReader
  #reading: View | undefined
  #isClosed = false

  constructor(options: FollowerOptions) {
    const { durable, path } = options
    this.#options = options
    const { newest, root, trees } = openFolder(path, { use: 'existing' })
    newest.close()
    this.#root = root
    this.#trees = trees
    const folder = join(path, logFolder)
    this.#log = new LogReader(folder, durable)
    // Records that the committing process reports as durable need no verification.
    if (durable === undefined) verifyLog(root, folder)
  }

  get applyLag(): ApplyLag {
    return this.#log.applyLag
  }

  read<T>(read: (view: View) => T): T {
    if (this.#reading) return read(this.#reading)
    if (this.#isClosed) throw this.#unavailable('is closed')
    const tables = this.#log.read(this.#root).map(({ table }) => ({ table, limit: table.published }))
    const view = new LoggedView(new LmdbView(this.#trees), tables.reverse())
    this.#reading = view
    try {
      return read(view)
    } finally {
      this.#reading = undefined
      view.end()
    }
  }

  transact(): Promise<never> {
    return Promise.reject(this.#unavailable('is only read by this process'))
  }

  watch(listener: () => void): () => void {
    return this.#options.watch?.(listener) ?? (() => undefined)
  }

  async close(): Promise<void> {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#log.close()
    await this.#root.close()
    await this.#options.onClose?.()
  }

  #unavailable(what: string): StoreUnavailableError {
    return new StoreUnavailableError(`the store in ${this.#options.path} ${what}`)
  }
}
