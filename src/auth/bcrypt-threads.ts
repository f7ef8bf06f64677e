// Threads for passwords, apart from the pool that the store needs: a check takes tens of milliseconds of a core. They
// start when they are first needed and do not keep the process alive.

import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { programFile } from '../base/program-files.ts'
import type { Bcrypt } from './bcrypt.ts'
import type { BcryptTask } from './bcrypt-thread.ts'

/** Passwords checked or hashed at a time, in one process: one on each core. */
export const passwordThreads = availableParallelism()

const body = programFile('auth/bcrypt-thread.ts')

class BcryptThread {
  readonly #worker = new Worker(body)
  #done:
    | { readonly resolve: (result: unknown) => void; readonly reject: (error: unknown) => void }
    | undefined
  /** False once it has ended, which it does by a fault only. */
  alive = true

  constructor() {
    this.#worker.on('message', (result: unknown) => this.#end()?.resolve(result))
    this.#worker.on('error', error => this.#end()?.reject(error))
    this.#worker.on('exit', code => {
      this.alive = false
      this.#end()?.reject(new Error(`a thread for passwords has ended with code ${code}`))
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

/** The caller bounds how much is asked at a time. */
async function run(task: BcryptTask): Promise<unknown> {
  const thread = idle.pop() ?? new BcryptThread()
  try {
    return await thread.run(task)
  } finally {
    if (thread.alive) idle.push(thread)
  }
}

/** Runs in threads of its own, as many as there are cores. */
export const threadedBcrypt: Bcrypt = {
  hash: (bytes, cost) => run({ kind: 'hash', bytes, cost }) as Promise<string>,
  firstMatch: candidates => run({ kind: 'first match', candidates }) as Promise<number | undefined>,
}
