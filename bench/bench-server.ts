// A server on a data directory of its own, which can be restarted: V8 optimizes the same program differently in each
// process, so a single process may be 30 % faster or slower than another one.

import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'

export class BenchServer {
  readonly #data: string
  #process: ServerProcess

  private constructor(data: string, process: ServerProcess) {
    this.#data = data
    this.#process = process
  }

  /** Starts a server with a new data directory in `folder`. */
  static async start(folder: string): Promise<BenchServer> {
    const data = await mkdtemp(join(folder, 'terrarium-bench-'))
    try {
      return new BenchServer(data, await startProcess({ data }))
    } catch (cause) {
      await rm(data, { recursive: true, force: true })
      throw cause
    }
  }

  /** The current process; {@link restart} replaces it. */
  get process(): ServerProcess {
    return this.#process
  }

  get port(): number {
    return Number(new URL(this.#process.url).port)
  }

  /** Replaces the process. The new process has another port. */
  async restart(): Promise<void> {
    await this.#process.stop()
    this.#process = await startProcess({ data: this.#data })
  }

  /** Stops the process and removes the data directory. */
  async stop(): Promise<void> {
    try {
      await this.#process.stop()
    } finally {
      await rm(this.#data, { recursive: true, force: true })
    }
  }
}
