// Writes base copies to a target. The write of a part is retried until it succeeds, so a copy of many gigabytes survives an
// interruption of the network.

import type { Clock } from '../base/clock.ts'
import type { Micros } from '../base/micros.ts'
import { type Timers, wait } from '../base/timers.ts'
import type { Bytes } from '../storage/kv/contract.ts'
import { encodePart, makeCopy, partsOf, removeCopy } from './base-copy.ts'
import { baseContent } from './catalogue.ts'
import { type BaseName, baseObject, fromOf, partObject } from './object-names.ts'
import type { BackupTarget } from './target.ts'

interface BaseWriterOptions {
  readonly target: BackupTarget
  readonly data: string
  /** The name of the log. */
  readonly log: Bytes
  readonly clock: Clock
  readonly timers: Timers
  /** The sequence number of the newest durable record. */
  readonly durable: () => number
  /** Called after each object, with its bytes. */
  readonly onWritten: (bytes: number) => void
  /** Called when the write of an object fails. The write is retried. */
  readonly onFailure: (error: unknown) => void
}

/** Milliseconds before a failed write is retried. */
const retryMs = 5_000

/**
 * Copies the store and writes the copy to the generation that began at `start`. Resolves with undefined when `signal` has aborted.
 * Throws `BackupError` when the disk has too little free space.
 */
export async function writeBase(
  options: BaseWriterOptions,
  {
    generation,
    signal,
    start,
  }: { readonly generation: string; readonly start: Micros; readonly signal: AbortSignal },
): Promise<BaseName | undefined> {
  const { data, durable, log } = options
  try {
    const copy = await makeCopy(data, durable)
    const { place, time } = copy
    const base = { generation, from: fromOf(start, time), time, place }
    const parts = partsOf(copy)
    for (let number = 0; number < parts; number++) {
      const part = await encodePart(copy, number)
      if (!(await putWithRetries(options, partObject(base, number), part, signal))) return undefined
    }
    const content = baseContent({ parts, bytes: copy.bytes, log: Buffer.from(log).toString('hex') })
    return (await putWithRetries(options, baseObject(base), content, signal)) ? base : undefined
  } finally {
    await removeCopy(data)
  }
}

/** Writes an object, with retries until the write succeeds. Returns false if `signal` aborts before that. */
async function putWithRetries(
  { onFailure, onWritten, target, timers }: BaseWriterOptions,
  name: string,
  bytes: Uint8Array,
  signal: AbortSignal,
): Promise<boolean> {
  while (!signal.aborted) {
    try {
      await target.put(name, bytes)
      onWritten(bytes.length)
      return true
    } catch (error) {
      onFailure(error)
      await wait(retryMs, timers)
    }
  }
  return false
}
