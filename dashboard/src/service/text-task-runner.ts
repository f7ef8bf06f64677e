// Runs tasks over texts: in the page for short texts, in a worker for long ones, so that the page stays responsive.

import { NotationError } from '../language.ts'
import { perform, type TextTask, type TextTaskResult } from './text-tasks.ts'
import workerAddress from './text-worker.ts?worker&url'

/** Longer texts are processed in the worker. */
const workerFromChars = 200_000

interface PendingTask {
  readonly resolve: (result: unknown) => void
  readonly reject: (cause: Error) => void
}

let worker: Worker | undefined
let lastId = 0
const pending = new Map<number, PendingTask>()

/** `chars`: length of the texts. Rejects with the error that the task throws. */
export async function runTextTask<T extends TextTask>(task: T, chars: number): Promise<TextTaskResult<T>> {
  if (chars < workerFromChars) return perform(task)
  worker ??= startWorker()
  const id = ++lastId
  const result = new Promise<unknown>((resolve, reject) => pending.set(id, { resolve, reject }))
  worker.postMessage({ id, task })
  // The worker calls `perform`, which returns this type.
  return (await result) as TextTaskResult<T>
}

export type TextTaskReply =
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly message: string; readonly range: NotationRange | undefined }

/** The position of a {@link NotationError}. */
type NotationRange = Pick<NotationError, 'from' | 'to'>

function startWorker(): Worker {
  const started = new Worker(trustedAddress(workerAddress), { type: 'module' })
  started.addEventListener('message', ({ data }: MessageEvent<TextTaskReply>) => {
    const task = pending.get(data.id)
    pending.delete(data.id)
    if ('message' in data) task?.reject(failure(data.message, data.range))
    else task?.resolve(data.result)
  })
  started.addEventListener('error', event => {
    for (const { reject } of pending.values())
      reject(new Error(`The background worker failed (${event.message}). Try again.`))
    pending.clear()
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

/** A Trusted Types policy that allows only the address of the worker. Browsers without Trusted Types need no policy. */
function trustedAddress(address: string): string {
  const { trustedTypes } = globalThis as { readonly trustedTypes?: TrustedTypePolicies }
  const policy = trustedTypes?.createPolicy('worker', {
    createScriptURL: wanted => {
      if (wanted !== workerAddress) throw new TypeError('not the worker of the dashboard')
      return wanted
    },
  })
  return policy?.createScriptURL(address) ?? address
}

function failure(message: string, range: NotationRange | undefined): Error {
  return range === undefined ? new Error(message) : new NotationError(message, range.from, range.to)
}
