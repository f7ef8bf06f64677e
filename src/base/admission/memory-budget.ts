// Limits a resource that all clients share (bytes of unfinished requests, bytes of unread responses, connections
// without a request, memory of waiting queries). A request or connection that can be ended has a share of the resource.
// When the limit is exceeded, the largest shares of the client with the greatest use are evicted: their requests or
// connections are ended. Evictions depend on size, so a new client has no disadvantage. The shares of a client form a
// group (elsewhere called the *owner* of the shares), which is named by the client's address, or by its database once
// the credential is known. Work that must not be ended has a reservation, or a pinned share. Shares are evicted for a
// reservation; if this is not enough, the reservation is rejected.
//
// A share stalls if less than a minimum amount moves (is added, removed or transferred) during a window of time. A
// budget with a pace evicts stalled shares.

import { assert } from '../assert.ts'
import type { Clock } from '../clock.ts'
import type { Cancel, Timers } from '../timers.ts'
import { upsert } from '../upsert.ts'

export type Eviction = 'no room' | 'too slow'

/** Evictions continue to this part of the limit. Otherwise, the next bytes would cause evictions again. */
const lowWater = 7 / 8

interface MemoryBudgetOptions {
  /** The limit for all shares and reservations together; a function if the limit changes. */
  readonly max: number | (() => number)
  /** The part of the limit that one group may hold, from 0 to 1. By default, one group may hold everything. */
  readonly groupPart?: number
  /** The default is {@link lowWater}. */
  readonly lowWater?: number
  /** The minimum speed of shares. Undefined if shares may stall. */
  readonly pace?: Pace
  /** Creates the error for a reservation that exceeds the limit. */
  readonly rejection?: () => Error
}

/** The minimum speed of a share: `amount` must move in each window of `windowMs` milliseconds. */
export interface Pace {
  readonly windowMs: number
  readonly amount: number
  readonly clock: Clock
  readonly timers: Timers
}

/** A second call has no effect. */
type Release = () => void

interface Group {
  readonly name: string
  readonly shares: Set<Share>
  held: number
  /** The part of `held` that belongs to pinned shares. */
  pinned: number
}

export class MemoryBudget {
  readonly #max: () => number
  readonly #groupPart: number
  readonly #lowWater: number
  readonly #pace: Pace | undefined
  readonly rejection: (() => Error) | undefined
  readonly #groups = new Map<string, Group>()
  #held = 0
  #cancelSweep: Cancel | undefined

  constructor({ groupPart = 1, lowWater: low = lowWater, max, pace, rejection }: MemoryBudgetOptions) {
    this.#max = typeof max === 'number' ? () => max : max
    this.#groupPart = groupPart
    this.#lowWater = low
    this.#pace = pace
    this.rejection = rejection
  }

  get held(): number {
    return this.#held
  }

  /**
   * `evict` must end the request or connection of the share; the share is already closed then. This method and {@link
   * Share.grow} may call `evict`.
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
   * Reserves an amount for a group, and evicts shares if necessary. Throws the error of `rejection` if the reservation
   * still exceeds the limit of all groups or of its group. If no other amount is in use, every reservation is accepted.
   */
  reserve(amount: number, name = ''): Release {
    const group = this.#groupOf(name)
    const heldMax = this.#max() - amount
    const groupHeldMax = this.#groupMax - amount
    if (group.held > groupHeldMax) this.#shrink(group, groupHeldMax, 0)
    if (group.held <= groupHeldMax) this.#makeRoom(heldMax, heldMax)
    if (this.#held > 0 && (this.#held > heldMax || group.held > groupHeldMax)) {
      this.#dropIfEmpty(group)
      assert(this.rejection, 'a budget with reservations has an error for those that it rejects')
      throw this.rejection()
    }
    const share = this.open(name, () => undefined)
    share.pin(true)
    share.pause(true)
    share.grow(amount)
    return () => share.close()
  }

  /**
   * At the limit, a group may add an amount only if it then still holds no more than its fair part: the limit divided
   * by the number of groups. A group that holds nothing may also add a larger amount. A limit of 0 admits nothing.
   */
  admits(name: string, amount: number): boolean {
    const max = this.#max()
    if (this.#held + amount <= max) return true
    const group = this.#groups.get(name)
    const groups = this.#groups.size + (group === undefined ? 1 : 0)
    return (group?.held ?? 0) + amount <= Math.max(amount, max / groups) && max > 0
  }

  /** Called by {@link Share}. `amount` may be negative. */
  change(share: Share, amount: number): void {
    if (share.held === amount) {
      // The share was empty, so its age begins now: the share becomes the youngest share of its group.
      share.group.shares.delete(share)
      share.group.shares.add(share)
    }
    this.#add(share, amount)
    if (amount <= 0) return
    this.limitGroup(share.group)
    if (this.#held > this.#max()) this.#makeRoom(this.#max(), Math.ceil(this.#max() * this.#lowWater))
  }

  #add(share: Share, amount: number): void {
    share.group.held += amount
    if (share.isPinned) share.group.pinned += amount
    this.#held += amount
  }

  /** Evicts shares of a group that holds more than a group may hold. {@link Share} calls this method. */
  limitGroup(group: Group): void {
    if (this.#groupPart < 1 && group.held > this.#groupMax) this.#shrink(group, this.#groupMax, 0)
  }

  get #groupMax(): number {
    return this.#max() * this.#groupPart
  }

  /** Called by {@link Share}. */
  remove(share: Share): void {
    const { group, held } = share
    this.#add(share, -held)
    group.shares.delete(share)
    this.#dropIfEmpty(group)
  }

  /**
   * With a pace, the next sweep deletes the group if it is still empty, because most clients send another request
   * before.
   */
  #dropIfEmpty(group: Group): void {
    if (group.shares.size === 0 && this.#pace === undefined) this.#groups.delete(group.name)
  }

  /** Called by {@link Share}. */
  regroup(share: Share, name: string): Group {
    const from = share.group
    const to = this.#groupOf(name)
    if (to === from) return to
    const pinned = share.isPinned ? share.held : 0
    from.held -= share.held
    from.pinned -= pinned
    from.shares.delete(share)
    this.#dropIfEmpty(from)
    to.held += share.held
    to.pinned += pinned
    to.shares.add(share)
    return to
  }

  #groupOf(name: string): Group {
    return upsert(this.#groups, name, () => ({ name, shares: new Set(), held: 0, pinned: 0 }))
  }

  /** If more than `limit` is in use, evicts shares of the largest groups until at most `enough` is in use. */
  #makeRoom(limit: number, enough: number): void {
    if (this.#held <= limit) return
    while (this.#held > enough) {
      let largest: Group | undefined
      let second = 0
      for (const group of this.#groups.values()) {
        if (group.held === group.pinned) continue
        if (largest === undefined || group.held > largest.held) {
          second = largest?.held ?? 0
          largest = group
        } else if (group.held > second) second = group.held
      }
      if (largest === undefined) return
      this.#shrink(largest, second, enough)
    }
  }

  /**
   * Evicts the largest shares, and the oldest among equals, until the group uses at most `groupEnough`, or all groups
   * at most `enough`.
   */
  #shrink(group: Group, groupEnough: number, enough: number): void {
    const shares = [...group.shares].filter(share => share.held > 0 && !share.isPinned)
    shares.sort((left, right) => right.held - left.held)
    for (const share of shares) {
      share.end('no room')
      if (group.held <= groupEnough || this.#held <= enough) return
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
  #pinned = false

  constructor(budget: MemoryBudget, group: Group, evict: (reason: Eviction) => void, nowMs: number) {
    this.#budget = budget
    this.group = group
    this.#evict = evict
    this.#windowFromMs = nowMs
  }

  /** True while the share must not be evicted because of its size. */
  get isPinned(): boolean {
    return this.#pinned
  }

  pin(isPinned: boolean): void {
    if (this.#closed || isPinned === this.#pinned) return
    this.#pinned = isPinned
    this.group.pinned += isPinned ? this.held : -this.held
  }

  /** Counts `amount` as moved. The call may evict the share itself. */
  grow(amount: number): void {
    if (this.#closed) return
    this.held += amount
    this.#moved += amount
    this.#budget.change(this, amount)
  }

  /** Counts `amount` as moved. */
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

  regroup(name: string): void {
    if (this.#closed) return
    this.group = this.#budget.regroup(this, name)
    this.#budget.limitGroup(this.group)
  }

  /** A paused share is not evicted when it stalls. */
  pause(paused: boolean): void {
    this.#paused = paused
  }

  /** Further calls do nothing. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#budget.remove(this)
    this.held = 0
  }

  /** Called by {@link MemoryBudget}. */
  end(reason: Eviction): void {
    this.close()
    this.#evict(reason)
  }

  /**
   * Called by {@link MemoryBudget}. Begins a new window if the current one is over, and evicts a share that moved too
   * little.
   */
  checkPace(nowMs: number, { windowMs, amount }: Pace): void {
    if (nowMs - this.#windowFromMs < windowMs) return
    const isTooSlow = this.#moved < amount && !this.#paused
    this.#windowFromMs = nowMs
    this.#moved = 0
    if (isTooSlow) this.end('too slow')
  }
}
