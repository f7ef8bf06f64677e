// Work on texts that may be megabytes long: done at once when they are short, and by a worker when doing it here would
// be felt.

import { NotationError } from '../language.ts'
import { type HeavyResult, type HeavyTask, perform } from './heavy-tasks.ts'
import workerAddress from './heavy-worker.ts?worker&url'

/** Texts of at least so many characters go to the worker. */
const workerFromChars = 200_000

interface Waiting {
  readonly resolve: (result: unknown) => void
  readonly reject: (cause: Error) => void
}

let worker: Worker | undefined
let lastId = 0
const waiting = new Map<number, Waiting>()

/** Performs a task over `chars` characters of text. Rejects with what the task throws. */
export async function heavy<T extends HeavyTask>(task: T, chars: number): Promise<HeavyResult<T>> {
  if (chars < workerFromChars) return perform(task)
  worker ??= startWorker()
  const id = ++lastId
  const result = new Promise<unknown>((resolve, reject) => waiting.set(id, { resolve, reject }))
  worker.postMessage({ id, task })
  // The worker performs the same function, whose result has this type.
  return (await result) as HeavyResult<T>
}

/** What the worker sends back. */
export type HeavyReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly message: string; readonly from: number | undefined }

function startWorker(): Worker {
  const started = new Worker(trusted(workerAddress), { type: 'module' })
  started.addEventListener('message', ({ data }: MessageEvent<HeavyReply>) => {
    const asked = waiting.get(data.id)
    waiting.delete(data.id)
    if ('message' in data) asked?.reject(failure(data.message, data.from))
    else asked?.resolve(data.result)
  })
  started.addEventListener('error', event => {
    for (const { reject } of waiting.values()) reject(new Error(`The worker has failed: ${event.message}`))
    waiting.clear()
    worker = undefined
  })
  return started
}

interface TrustedTypePolicies {
  createPolicy(
    name: string,
    rules: { readonly createScriptURL: (address: string) => string },
  ): { createScriptURL(address: string): string }
}

/** The page's policy lets this one address through as code; browsers without Trusted Types need nothing. */
function trusted(address: string): string {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypePolicies }
  const policy = trustedTypes?.createPolicy('worker', {
    createScriptURL: wanted => {
      if (wanted !== workerAddress) throw new TypeError('not the worker of the dashboard')
      return wanted
    },
  })
  return policy?.createScriptURL(address) ?? address
}

function failure(message: string, from: number | undefined): Error {
  return from === undefined ? new Error(message) : new NotationError(message, from)
}
