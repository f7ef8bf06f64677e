// Keeps two services from writing to one backup. The service that writes renews an object; another one watches the object and
// takes over only when nobody renews it. Ages are measured by watching, never by comparing clocks of two machines.

import { hostname } from 'node:os'
import { isAlive, processMark } from '../base/process-mark.ts'
import { type Random, systemRandom } from '../base/random.ts'
import { systemTimers, type Timers, wait } from '../base/timers.ts'
import { BackupError } from './errors.ts'
import { leaseObject } from './object-names.ts'
import type { BackupTarget } from './target.ts'

/** The content of the object, as JSON. */
interface LeaseContent {
  readonly holder: string
  readonly host: string
  readonly pid: number
  /** Identifies the process beyond its number, where the system can. */
  readonly process: string | null
  readonly renewals: number
  /** The holder has stopped in order. */
  readonly isReleased: boolean
  /** The backup contains all commits up to this time, in microseconds; 0: unknown. */
  readonly until: number
}

/** Milliseconds between two renewals. */
export const renewEveryMs = 10_000
/** An object that does not change for so many milliseconds has no live holder. */
const abandonedMs = 25_000
/** How often the object is read meanwhile, in milliseconds. */
const watchEveryMs = 1_000

/** Another service writes to the target. */
export class TargetInUseError extends BackupError {
  override name = 'TargetInUseError'
}

interface LeaseOptions {
  readonly target: BackupTarget
  readonly timers?: Timers
  readonly random?: Random
}

/** Reads the object; undefined when there is none. */
export async function readLease(target: BackupTarget): Promise<LeaseContent | undefined> {
  const object = await target.get(leaseObject)
  if (object === undefined) return undefined
  try {
    return JSON.parse(object.toString()) as LeaseContent
  } catch {
    // A damaged one is replaced, as one that nobody renews is.
    return undefined
  }
}

export class Lease {
  readonly #target: BackupTarget
  readonly #timers: Timers
  readonly #holder: string
  #renewals = 0

  constructor({ random = systemRandom, target, timers = systemTimers }: LeaseOptions) {
    this.#target = target
    this.#timers = timers
    this.#holder = random.hex(8)
  }

  /** Takes the lease; waits for a holder that seems to be gone. Throws {@link TargetInUseError} when it is not. */
  async acquire(until: number): Promise<void> {
    const first = await readLease(this.#target)
    let found = first
    for (let watchedMs = 0; found !== undefined && !isFree(found); watchedMs += watchEveryMs) {
      if (found.holder === this.#holder || watchedMs >= abandonedMs) break
      await wait(watchEveryMs, this.#timers)
      found = await readLease(this.#target)
      const isRenewed = found !== undefined && found.renewals !== first?.renewals && !found.isReleased
      if (isRenewed || found?.holder !== first?.holder) throw this.#inUse(found ?? (first as LeaseContent))
    }
    await this.#put(until || (found?.until ?? 0), false)
    await this.#confirm()
  }

  /** Renews the lease. Throws {@link TargetInUseError} when another service has taken it. */
  async renew(until: number): Promise<void> {
    await this.#confirm()
    await this.#put(until, false)
  }

  /** Gives the lease back. */
  async release(until: number): Promise<void> {
    await this.#confirm()
    await this.#put(until, true)
  }

  async #confirm(): Promise<void> {
    const found = await readLease(this.#target)
    if (found !== undefined && found.holder !== this.#holder) throw this.#inUse(found)
  }

  #put(until: number, isReleased: boolean): Promise<void> {
    const content: LeaseContent = {
      holder: this.#holder,
      host: hostname(),
      pid: process.pid,
      process: processMark(process.pid) ?? null,
      renewals: ++this.#renewals,
      isReleased,
      until,
    }
    return this.#target.put(leaseObject, Buffer.from(JSON.stringify(content)))
  }

  #inUse({ host, pid }: LeaseContent): TargetInUseError {
    return new TargetInUseError(
      `another service (process ${pid} on ${host}) writes its backup to ${this.#target.name}: use another prefix or folder for this service`,
    )
  }
}

function isFree({ host, isReleased, pid, process: mark }: LeaseContent): boolean {
  return isReleased || (host === hostname() && isAlive(pid, mark ?? undefined) === false)
}
