// Starts the thread that applies segments to LMDB, and sends it requests.

import { Worker } from 'node:worker_threads'
import { assert } from '../../../base/assert.ts'
import { programFile } from '../../../base/program-files.ts'
import type { ApplyRequest } from './apply.ts'
import type { ApplyReply, ApplySetup } from './apply-thread.ts'

const body = programFile('storage/kv/log/apply-thread.ts')

export class Applier {
  readonly #setup: ApplySetup
  /** The thread, which is started by the first request. */
  #worker: Worker | undefined
  #waiting: { readonly resolve: () => void; readonly reject: (error: Error) => void } | undefined

  /** `setup`: the folder, which the thread opens again. */
  constructor(setup: ApplySetup) {
    this.#setup = setup
  }

  /** Resolves when the requested segments are in LMDB, on disk. Only one request may run at a time. */
  apply(request: ApplyRequest): Promise<void> {
    assert(this.#waiting === undefined, 'one transaction applies segments at a time')
    this.#worker ??= this.#start()
    const worker = this.#worker
    worker.ref()
    return new Promise<void>((resolve, reject) => {
      this.#waiting = { resolve, reject }
      worker.postMessage(request)
    })
  }

  /** Ends the thread, which must be idle. */
  async close(): Promise<void> {
    const worker = this.#worker
    if (worker === undefined) return
    worker.ref()
    const ended = new Promise<void>(resolve => {
      worker.once('exit', () => resolve())
    })
    worker.postMessage('close')
    await ended
  }

  #start(): Worker {
    const worker = new Worker(body, { workerData: this.#setup, execArgv: [] })
    worker.on('message', ({ failure }: ApplyReply) => this.#finish(failure))
    worker.on('error', (error: Error) => this.#finish(error.message))
    worker.once('exit', () => {
      this.#worker = undefined
      this.#finish('the thread that applies the commit log has exited')
    })
    return worker
  }

  #finish(failure: string | undefined): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#worker?.unref()
    if (failure === undefined) waiting?.resolve()
    else waiting?.reject(new Error(failure))
  }
}
