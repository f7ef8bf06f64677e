// Writes base copies to a target, and removes the objects that no restore within the retention needs. The write of a
// part is retried until it succeeds, so a copy of many gigabytes survives an interruption of the network.

import type { Clock } from '../base/clock.ts'
import { type Micros, microsPerDay } from '../base/micros.ts'
import { type Timers, wait } from '../base/timers.ts'
import type { Bytes } from '../storage/kv/contract.ts'
import { encodePart, makeCopy, partsOf, removeCopy } from './base-copy.ts'
import { baseContent } from './catalogue.ts'
import {
  type BaseName,
  baseObject,
  fromOf,
  logPrefix,
  partObject,
  partsPrefix,
  partsStart,
  piecesStart,
} from './object-names.ts'
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

// Removes the objects that no restore within the retention needs. A restore to the oldest time needs the newest base
// copy that is older than the retention. Older base copies, with their parts, and the records before that copy are
// removed. The objects that complete base copies are removed first, then parts, then records, each from the oldest to
// the newest. So an interruption never leaves a complete base copy without its parts or records, and the next removal
// finds the remaining objects.

/**
 * The base copy from which the oldest time of the retention is restored. The age of a copy is the sum of the intervals between
 * the later copies, and each interval counts as a day at most. So if the clock jumps, at most one day too much is removed.
 */
export function oldestNeeded(bases: readonly BaseName[], now: Micros, days: number): BaseName | undefined {
  let age = 0
  let later: number = now
  for (const base of bases.toReversed()) {
    age += Math.max(0, Math.min(later - base.from, microsPerDay))
    later = base.from
    if (age >= days * microsPerDay) return base
  }
  return bases[0]
}

/** Removes the objects that are needed only for times before `oldest`. Returns the number of removed objects. */
export async function removeBefore(
  target: BackupTarget,
  bases: readonly BaseName[],
  oldest: BaseName,
): Promise<number> {
  let removed = 0
  for (const base of bases) {
    if (base === oldest) break
    await target.remove(baseObject(base))
    removed++
  }
  removed += await removeUpTo(target, partsPrefix, partsStart(oldest))
  removed += await removeUpTo(target, logPrefix, piecesStart(oldest.generation, oldest.time))
  return removed
}

/** Removes the objects whose names begin with `prefix` and are less than `end`. */
async function removeUpTo(target: BackupTarget, prefix: string, end: string): Promise<number> {
  let removed = 0
  for await (const name of target.list(prefix)) {
    if (name >= end) break
    await target.remove(name)
    removed++
  }
  return removed
}
