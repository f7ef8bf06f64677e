// A limit on a resource that all clients share (bytes of unfinished requests, bytes of unread responses, connections
// without a request). When the limit is exceeded, the client that holds most loses its largest shares. A new client
// is not evicted because it is new. Clients are distinguished by a group: the address of the client, or its database
// once the credential is known.
//
// A budget with a pace also evicts stalled shares: each share must move a minimum amount in every window of time.

import type { Clock } from '../../base/clock.ts'
import type { Cancel, Timers } from '../../base/timers.ts'

/** Why a share is evicted. */
export type Eviction = 'no room' | 'too slow'

/** Evictions continue down to this part of the limit, so that the next bytes do not cause evictions again. */
const lowWater = 7 / 8

interface FairBudgetOptions {
  /** The limit for all shares together; a function if it changes. */
  readonly max: number | (() => number)
  /** Absent: shares may stall. */
  readonly pace?: Pace
}

/** The minimum speed of a share. */
export interface Pace {
  /** Length of a window in milliseconds. */
  readonly windowMs: number
  /** The amount that must move in each window. */
  readonly amount: number
}

interface Group {
  readonly name: string
  readonly shares: Set<Share>
  held: number
}

/** The shares of all groups, and their limit. */
export class FairBudget {
  readonly #max: () => number
  readonly #pace: Pace | undefined
  readonly #clock: Clock
  readonly #timers: Timers
  readonly #groups = new Map<string, Group>()
  #held = 0
  #cancelSweep: Cancel | undefined

  constructor(options: FairBudgetOptions, { clock, timers }: { clock: Clock; timers: Timers }) {
    const { max } = options
    this.#max = typeof max === 'number' ? () => max : max
    this.#pace = options.pace
    this.#clock = clock
    this.#timers = timers
  }

  /** The amount that all shares hold now. */
  get held(): number {
    return this.#held
  }

  /**
   * Opens an empty share. `evict` must end the request or connection that the share belongs to. The share is closed
   * before `evict` is called. {@link Share.grow} may call `evict`.
   */
  open(group: string, evict: (reason: Eviction) => void): Share {
    const share = new Share(this, this.#groupOf(group), evict, this.#pace ? this.#clock.elapsedMs() : 0)
    share.group.shares.add(share)
    if (this.#pace) this.#cancelSweep ??= this.#timers.after(this.#pace.windowMs, this.#sweep)
    return share
  }

  /** For {@link Share}: adds `amount`, which may be negative. */
  change(share: Share, amount: number): void {
    if (share.held === amount) {
      // The share was empty, so its age begins now: it becomes the youngest share of its group.
      share.group.shares.delete(share)
      share.group.shares.add(share)
    }
    share.group.held += amount
    this.#held += amount
    if (amount > 0 && this.#held > this.#max()) this.#makeRoom()
  }

  /** For {@link Share}. */
  remove(share: Share): void {
    const { group, held } = share
    group.held -= held
    this.#held -= held
    group.shares.delete(share)
    // With a pace, the next sweep deletes an empty group, because most clients return before that sweep.
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
   * Evicts shares of a group until it holds no more than `second`: the largest first, and among equal shares the oldest
   * first.
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
    const nowMs = this.#clock.elapsedMs()
    for (const group of this.#groups.values()) {
      for (const share of group.shares) share.checkPace(nowMs, pace)
      if (group.shares.size === 0) this.#groups.delete(group.name)
    }
    if (this.#groups.size > 0) this.#cancelSweep = this.#timers.after(pace.windowMs / 2, this.#sweep)
  }
}

/** The part of a budget that one holder uses. */
export class Share {
  group: Group
  held = 0
  readonly #budget: FairBudget
  readonly #evict: (reason: Eviction) => void
  #closed = false
  #windowFromMs: number
  #moved = 0
  /** Set while the share waits for something other than the client. */
  #paused = false

  constructor(budget: FairBudget, group: Group, evict: (reason: Eviction) => void, nowMs: number) {
    this.#budget = budget
    this.group = group
    this.#evict = evict
    this.#windowFromMs = nowMs
  }

  /** Adds `amount`, which also counts as movement. The call may evict the share itself. */
  grow(amount: number): void {
    if (this.#closed) return
    this.held += amount
    this.#moved += amount
    this.#budget.change(this, amount)
  }

  /** Removes `amount`, which also counts as movement. */
  shrink(amount: number): void {
    if (this.#closed) return
    this.held -= amount
    this.#moved += amount
    this.#budget.change(this, -amount)
  }

  /** Counts movement that does not change the held amount. */
  move(amount: number): void {
    this.#moved += amount
  }

  /** Moves the share to another group. */
  regroup(name: string): void {
    if (!this.#closed) this.group = this.#budget.regroup(this, name)
  }

  /** A paused share may stall. */
  pause(paused: boolean): void {
    this.#paused = paused
  }

  /** Returns the held amount to the budget. Further calls do nothing. */
  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#budget.remove(this)
    this.held = 0
  }

  /** For {@link FairBudget}. */
  end(reason: Eviction): void {
    this.close()
    this.#evict(reason)
  }

  /**
   * For {@link FairBudget}: begins a new window when the current window is over, and evicts the share if too little
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
