// Limits a resource that all clients share (bytes of unfinished requests, bytes of unread responses, connections
// without a request, memory of running queries). A request or connection that can be ended has a share of the resource.
// When the limit is exceeded, the largest shares of the client with the greatest use are evicted: their requests or
// connections are ended. Evictions depend on size, so a new client has no disadvantage. The shares of a client form a
// group, which is named by the client's address, or by its database once the credential is known. Work that must not be
// ended has a reservation instead of a share. A reservation that exceeds the limit is rejected.
//
// A budget with a pace also evicts stalled shares. A share stalls if less than a minimum amount moves (is added,
// removed or transferred) during a window of time.

import { assert } from '../assert.ts'
import type { Clock } from '../clock.ts'
import type { Cancel, Timers } from '../timers.ts'

/** The reason for which a share is evicted. */
export type Eviction = 'no room' | 'too slow'

/**
 * Evictions continue until at most this fraction of the limit is in use. Otherwise, the next bytes would cause
 * evictions again.
 */
const lowWater = 7 / 8

interface MemoryBudgetOptions {
  /** The limit for all shares and reservations together; a function if the limit changes. */
  readonly max: number | (() => number)
  /** Absent: shares may stall. */
  readonly pace?: Pace
  /** Creates the error that is thrown for a reservation that exceeds the limit. */
  readonly refusal?: () => Error
}

/** The minimum speed of a share. */
export interface Pace {
  /** Length of a window in milliseconds. */
  readonly windowMs: number
  /** The amount that must move in each window. */
  readonly amount: number
  readonly clock: Clock
  readonly timers: Timers
}

/** Releases a reservation; a second call has no effect. */
type Release = () => void

interface Group {
  readonly name: string
  readonly shares: Set<Share>
  held: number
}

/** The shares of all groups, the reservations, and their limit. */
export class MemoryBudget {
  readonly #max: () => number
  readonly #pace: Pace | undefined
  readonly #refusal: (() => Error) | undefined
  readonly #groups = new Map<string, Group>()
  #held = 0
  #cancelSweep: Cancel | undefined

  constructor({ max, pace, refusal }: MemoryBudgetOptions) {
    this.#max = typeof max === 'number' ? () => max : max
    this.#pace = pace
    this.#refusal = refusal
  }

  /** The present total of all shares and reservations. */
  get held(): number {
    return this.#held
  }

  /**
   * Opens a share of `amount`. `evict` must end the request or connection that the share belongs to. The share is
   * closed before `evict` is called. This method and {@link Share.grow} may call `evict`.
   */
  open(group: string, evict: (reason: Eviction) => void, amount = 0): Share {
    const pace = this.#pace
    const share = new Share(this, this.#groupOf(group), evict, pace?.clock.elapsedMs() ?? 0)
    share.group.shares.add(share)
    if (pace) this.#cancelSweep ??= pace.timers.after(pace.windowMs, this.#sweep)
    if (amount > 0) share.grow(amount)
    return share
  }

  /**
   * Reserves an amount that is never evicted. Throws the error of `refusal` if the reservation exceeds the limit. If no
   * other amount is in use, every reservation is accepted.
   */
  reserve(amount: number): Release {
    if (this.#held > 0 && this.#held + amount > this.#max()) {
      assert(this.#refusal, 'a budget with reservations has an error for those that it rejects')
      throw this.#refusal()
    }
    this.#held += amount
    let isHeld = true
    return () => {
      if (isHeld) this.#held -= amount
      isHeld = false
    }
  }

  /** For {@link Share}: adds `amount`, which may be negative. */
  change(share: Share, amount: number): void {
    if (share.held === amount) {
      // The share was empty, so its age begins now: the share becomes the youngest share of its group.
      share.group.shares.delete(share)
      share.group.shares.add(share)
    }
    share.group.held += amount
    this.#held += amount
    if (amount > 0 && this.#held > this.#max()) this.#makeRoom()
  }

  /** For {@link Share}: removes a share. */
  remove(share: Share): void {
    const { group, held } = share
    group.held -= held
    this.#held -= held
    group.shares.delete(share)
    // With a pace, the next sweep deletes the group if the group is still empty. Most clients return before the next
    // sweep.
    if (group.shares.size === 0 && this.#pace === undefined) this.#groups.delete(group.name)
  }

  /** For {@link Share}: moves a share to another group. */
  regroup(share: Share, name: string): Group {
    const from = share.group
    const to = this.#groupOf(name)
    if (to === from) return to
    from.held -= share.held
    from.shares.delete(share)
    if (from.shares.size === 0 && this.#pace === undefined) this.#groups.delete(from.name)
    to.held += share.held
    to.shares.add(share)
    return to
  }

  #groupOf(name: string): Group {
    let group = this.#groups.get(name)
    if (group === undefined) {
      group = { name, shares: new Set(), held: 0 }
      this.#groups.set(name, group)
    }
    return group
  }

  #makeRoom(): void {
    const enough = Math.ceil(this.#max() * lowWater)
    while (this.#held > enough) {
      let largest: Group | undefined
      let second = 0
      for (const group of this.#groups.values()) {
        if (largest === undefined || group.held > largest.held) {
          second = largest?.held ?? 0
          largest = group
        } else if (group.held > second) second = group.held
      }
      if (largest === undefined || largest.held === 0) return
      this.#shrink(largest, second, enough)
    }
  }

  /**
   * Evicts shares of a group until the group uses at most `second`, or until all groups together use at most `enough`.
   * The largest share is evicted first; among equal shares, the oldest share.
   */
  #shrink(group: Group, second: number, enough: number): void {
    const shares = [...group.shares].sort((left, right) => right.held - left.held)
    for (const share of shares) {
      share.end('no room')
      if (group.held <= second || this.#held <= enough) return
    }
  }

  readonly #sweep = () => {
    this.#cancelSweep = undefined
    const pace = this.#pace as Pace
    const nowMs = pace.clock.elapsedMs()
    for (const group of this.#groups.values()) {
      for (const share of group.shares) share.checkPace(nowMs, pace)
      if (group.shares.size === 0) this.#groups.delete(group.name)
    }
    if (this.#groups.size > 0) this.#cancelSweep = pace.timers.after(pace.windowMs / 2, this.#sweep)
  }
}

/** The amount of a budget that one request or connection uses. */
export class Share {
  group: Group
  held = 0
  readonly #budget: MemoryBudget
  readonly #evict: (reason: Eviction) => void
  #closed = false
  #windowFromMs: number
  #moved = 0
  /** True while the service does not read from the client. During this time, nothing in the share can move. */
  #paused = false

  constructor(budget: MemoryBudget, group: Group, evict: (reason: Eviction) => void, nowMs: number) {
    this.#budget = budget
    this.group = group
    this.#evict = evict
    this.#windowFromMs = nowMs
  }

  /** Adds `amount` to the share, and counts it as moved. The call may evict the share itself. */
  grow(amount: number): void {
    if (this.#closed) return
    this.held += amount
    this.#moved += amount
    this.#budget.change(this, amount)
  }

  /** Removes `amount` from the share, and counts it as moved. */
  shrink(amount: number): void {
    if (this.#closed) return
    this.held -= amount
    this.#moved += amount
    this.#budget.change(this, -amount)
  }

  /** Counts `amount` as moved, but leaves the held amount unchanged. */
  move(amount: number): void {
    this.#moved += amount
  }

  /** Moves the share to another group. */
  regroup(name: string): void {
    if (!this.#closed) this.group = this.#budget.regroup(this, name)
  }

  /** A paused share is not evicted when it stalls. */
  pause(paused: boolean): void {
    this.#paused = paused
  }

  /** Removes the share from the budget. Further calls do nothing. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#budget.remove(this)
    this.held = 0
  }

  /** For {@link MemoryBudget}: evicts the share. */
  end(reason: Eviction): void {
    this.close()
    this.#evict(reason)
  }

  /**
   * For {@link MemoryBudget}: begins a new window when the current window is over, and evicts the share if too little
   * moved in that window.
   */
  checkPace(nowMs: number, { windowMs, amount }: Pace): void {
    if (nowMs - this.#windowFromMs < windowMs) return
    const isTooSlow = this.#moved < amount && !this.#paused
    this.#windowFromMs = nowMs
    this.#moved = 0
    if (isTooSlow) this.end('too slow')
  }
}
