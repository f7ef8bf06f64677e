// Threads for passwords, separate from the thread pool that the store needs: a check takes tens of milliseconds of a
// core. Threads start on demand and do not keep the process alive.

import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { programFile } from '../../base/program-files.ts'
import type { Bcrypt } from './bcrypt.ts'
import type { BcryptTask } from './bcrypt-thread.ts'

/** Number of concurrent password checks and hashes in a process: one per core. */
export const passwordThreads = availableParallelism()

const body = programFile('model/auth/bcrypt-thread.ts')

class BcryptThread {
  readonly #worker = new Worker(body)
  #done:
    | { readonly resolve: (result: unknown) => void; readonly reject: (error: unknown) => void }
    | undefined
  /** False once the thread has exited, which happens only after an error. */
  alive = true

  constructor() {
    this.#worker.on('message', (result: unknown) => this.#end()?.resolve(result))
    this.#worker.on('error', error => this.#end()?.reject(error))
    this.#worker.on('exit', code => {
      this.alive = false
      this.#end()?.reject(new Error(`a thread for passwords has exited with code ${code}`))
    })
    this.#worker.unref()
  }

  run(task: BcryptTask): Promise<unknown> {
    this.#worker.ref()
    return new Promise((resolve, reject) => {
      this.#done = { resolve, reject }
      this.#worker.postMessage(task)
    })
  }

  #end() {
    const done = this.#done
    this.#done = undefined
    this.#worker.unref()
    return done
  }
}

const idle: BcryptThread[] = []

/** Runs a task in an idle thread, or a new one. The caller limits the number of concurrent tasks. */
async function run(task: BcryptTask): Promise<unknown> {
  const thread = idle.pop() ?? new BcryptThread()
  try {
    return await thread.run(task)
  } finally {
    if (thread.alive) idle.push(thread)
  }
}

/** Runs bcrypt in threads of its own, as many as there are cores. */
export const threadedBcrypt: Bcrypt = {
  hash: (bytes, cost) => run({ kind: 'hash', bytes, cost }) as Promise<string>,
  firstMatch: candidates => run({ kind: 'first match', candidates }) as Promise<number | undefined>,
}
