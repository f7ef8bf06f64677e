// Prevents two services from writing to one backup. The service that writes has a lease: an object in the target. The
// service rewrites this object regularly. Another service takes over only after it has watched the object for some time
// without a renewal. So the clocks of two machines are never compared.

import { hostname } from 'node:os'
import { systemRandom } from '../base/random.ts'
import { isAlive, processMark } from '../base/system-process.ts'
import { systemTimers, type Timers, wait } from '../base/timers.ts'
import type { ChainPlace } from '../storage/kv/log/segment.ts'
import { leaseObject } from './object-names.ts'
import { BackupError, type BackupTarget } from './target.ts'

/** The part of the log that the backup contains. */
export interface LeaseReach {
  /** The backup contains all commits up to this time, in microseconds; 0: unknown. */
  readonly until: number
  /**
   * The newest record in the newest generation that has a base copy. With this record, a restore detects that the last
   * objects of the generation are missing. Leases of earlier versions do not contain this record.
   */
  readonly newest?: ChainPlace & { readonly generation: string }
}

/** The content of the object, as JSON. */
interface LeaseContent extends LeaseReach {
  readonly holder: string
  readonly host: string
  readonly pid: number
  /** A mark that later processes with the same pid do not have; null if the system provides no marks. */
  readonly process: string | null
  readonly renewals: number
  /** True: the holder has stopped and released the lease. */
  readonly isReleased: boolean
}

/** Milliseconds between two renewals. */
export const renewEveryMs = 10_000
/** A lease that was not renewed for this many milliseconds is regarded as abandoned. */
const abandonedMs = 25_000
/** Milliseconds between two reads while a lease is watched. */
const watchEveryMs = 1_000

/** Thrown when another service writes to the target. */
export class TargetInUseError extends BackupError {
  override name = 'TargetInUseError'
}

interface LeaseOptions {
  readonly target: BackupTarget
  readonly timers?: Timers
}

/** Reads the lease; undefined when the lease does not exist or is damaged. */
export async function readLease(target: BackupTarget): Promise<LeaseContent | undefined> {
  const object = await target.get(leaseObject)
  if (object === undefined) return undefined
  try {
    return JSON.parse(object.toString()) as LeaseContent
  } catch {
    // A damaged lease is replaced like an abandoned lease.
    return undefined
  }
}

export class Lease {
  readonly #target: BackupTarget
  readonly #timers: Timers
  readonly #holder: string
  #renewals = 0
  #newest: LeaseReach['newest']

  constructor({ target, timers = systemTimers }: LeaseOptions) {
    this.#target = target
    this.#timers = timers
    this.#holder = systemRandom.hex(8)
  }

  /**
   * Acquires the lease. If another service holds the lease, first watches the lease for some time. Throws
   * {@link TargetInUseError} if a service renews or takes the lease in this time.
   */
  async acquire(): Promise<void> {
    const first = await readLease(this.#target)
    let found = first
    for (let watchedMs = 0; found !== undefined && !isFree(found); watchedMs += watchEveryMs) {
      if (found.holder === this.#holder || watchedMs >= abandonedMs) break
      await wait(watchEveryMs, this.#timers)
      found = await readLease(this.#target)
      const isRenewed = found !== undefined && found.renewals !== first?.renewals && !found.isReleased
      if (isRenewed || found?.holder !== first?.holder) throw this.#inUse(found ?? (first as LeaseContent))
    }
    await this.#put(found ?? { until: 0 }, false)
    await this.#confirm()
  }

  /** Renews the lease. Throws {@link TargetInUseError} when another service has taken the lease. */
  async renew(reach: LeaseReach): Promise<void> {
    await this.#confirm()
    await this.#put(reach, false)
  }

  /** Releases the lease. */
  async release(reach: LeaseReach): Promise<void> {
    await this.#confirm()
    await this.#put(reach, true)
  }

  async #confirm(): Promise<void> {
    const found = await readLease(this.#target)
    if (found !== undefined && found.holder !== this.#holder) throw this.#inUse(found)
  }

  /** `newest`: if absent, the record in the lease does not change. */
  #put({ newest = this.#newest, until }: LeaseReach, isReleased: boolean): Promise<void> {
    this.#newest = newest
    const content: LeaseContent = {
      holder: this.#holder,
      host: hostname(),
      pid: process.pid,
      process: processMark(process.pid) ?? null,
      renewals: ++this.#renewals,
      isReleased,
      until,
      ...(newest && { newest }),
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
