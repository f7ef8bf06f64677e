// Prevents two services from writing to one backup. The writing service holds a lease: an object in the target that it
// rewrites regularly. Another service takes the lease at once if the lease is released or damaged, or if the process of
// its holder ran on this machine and has ended. Otherwise, the service first watches the object for some time without a
// renewal, so the clocks of two machines are never compared. A write succeeds only if the object has not changed since
// it was read. In a target without conditional writes, two services that take the lease at the same time may both write
// until their next renewal.

import { hostname } from 'node:os'
import { systemRandom } from '../base/random.ts'
import { isAlive, processMark } from '../base/system-process.ts'
import { type Timers, wait } from '../base/timers.ts'
import type { ChainPlace } from '../storage/log/segment.ts'
import { leaseObject } from './object-names.ts'
import { BackupError, type BackupTarget } from './target.ts'

/** The part of the log that the backup contains. */
export interface LeaseReach {
  /** The backup contains all commits up to this time, in microseconds; 0: unknown. */
  readonly until: number
  /**
   * Newest record in the newest generation that has a base copy. With this record, a restore detects that the last
   * objects of the generation are missing. Absent until a generation has a base copy, and in leases of earlier
   * releases.
   */
  readonly newest?: ChainPlace & { readonly generation: string }
}

interface LeaseContent extends LeaseReach {
  readonly holder: string
  readonly host: string
  readonly pid: number
  /** Distinguishes later processes with the same pid; null if the system provides no such mark. */
  readonly process: string | null
  readonly renewals: number
  /** The holder has stopped and released the lease. */
  readonly isReleased: boolean
}

export const renewEveryMs = 10_000
/** A lease counts as abandoned after this many milliseconds without a renewal. */
const abandonedMs = 25_000
/** Milliseconds between two reads while a lease is watched. */
const watchEveryMs = 1_000

/** Thrown when another service writes to the target. */
export class TargetInUseError extends BackupError {
  override name = 'TargetInUseError'
}

/** Returns undefined when the lease does not exist or is damaged. */
export async function readLease(target: BackupTarget): Promise<LeaseContent | undefined> {
  return (await readTagged(target)).content
}

interface TaggedLease {
  readonly content: LeaseContent | undefined
  /** Undefined if the object does not exist. */
  readonly tag: string | undefined
}

async function readTagged(target: BackupTarget): Promise<TaggedLease> {
  const object = await target.getTagged(leaseObject)
  if (object === undefined) return { content: undefined, tag: undefined }
  const { bytes, tag } = object
  try {
    const content = JSON.parse(bytes.toString()) as LeaseContent | null
    if (typeof content?.holder === 'string') return { content, tag }
  } catch {
    // The content is not JSON.
  }
  // A damaged lease is replaced like a released lease.
  return { content: undefined, tag }
}

export class Lease {
  readonly #target: BackupTarget
  readonly #timers: Timers
  readonly #holder: string
  #renewals = 0
  #newest: LeaseReach['newest']

  constructor(target: BackupTarget, timers: Timers) {
    this.#target = target
    this.#timers = timers
    this.#holder = systemRandom.hex(8)
  }

  /**
   * Takes a free lease at once, and watches any other lease of another service for some time first. Throws {@link
   * TargetInUseError} if a service renews, takes or removes the lease in this time.
   */
  async acquire(): Promise<void> {
    let lease = await readTagged(this.#target)
    const first = lease.content
    for (
      let watchedMs = 0;
      lease.content !== undefined && !isFree(lease.content);
      watchedMs += watchEveryMs
    ) {
      if (lease.content.holder === this.#holder || watchedMs >= abandonedMs) break
      await wait(watchEveryMs, this.#timers)
      lease = await readTagged(this.#target)
      const { content } = lease
      const isRenewed = content !== undefined && content.renewals !== first?.renewals && !content.isReleased
      if (isRenewed || content?.holder !== first?.holder) throw this.#inUse(content ?? first)
    }
    await this.#put(lease, lease.content ?? { until: 0 }, false)
    // In a target without conditional writes, another service may have replaced the lease.
    await this.#confirm()
  }

  /** Throws {@link TargetInUseError} when another service has taken the lease. */
  async renew(reach: LeaseReach): Promise<void> {
    await this.#put(await this.#confirm(), reach, false)
  }

  async release(reach: LeaseReach): Promise<void> {
    await this.#put(await this.#confirm(), reach, true)
  }

  async #confirm(): Promise<TaggedLease> {
    const lease = await readTagged(this.#target)
    const { content } = lease
    if (content !== undefined && content.holder !== this.#holder) throw this.#inUse(content)
    return lease
  }

  /**
   * Replaces the lease that was read. Without `newest`, writes the record of the last call again. Throws {@link
   * TargetInUseError} if the lease has changed since it was read.
   */
  async #put(
    { tag }: TaggedLease,
    { newest = this.#newest, until }: LeaseReach,
    isReleased: boolean,
  ): Promise<void> {
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
    const text = JSON.stringify(content)
    if (await this.#target.putTagged(leaseObject, Buffer.from(text), tag)) return
    const found = await this.#confirm()
    // The client of a bucket repeats a request whose response was lost; the first request may have written the lease.
    if (found.content?.renewals !== content.renewals) throw this.#inUse(found.content)
  }

  #inUse(content: LeaseContent | undefined): TargetInUseError {
    const holder = content === undefined ? '' : ` (process ${content.pid} on ${content.host})`
    return new TargetInUseError(
      `another service${holder} writes its backup to ${this.#target.name}: use another prefix or folder for this service`,
    )
  }
}

function isFree({ host, isReleased, pid, process: mark }: LeaseContent): boolean {
  return isReleased || (host === hostname() && isAlive(pid, mark ?? undefined) === false)
}
