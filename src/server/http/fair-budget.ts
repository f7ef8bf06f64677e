// A bound on something that all clients hold together (bytes of unfinished requests, bytes of unread responses,
// connections without a request), shared fairly: when it is passed, the client that holds most loses what it holds
// most of, never the newcomer as such. A client is told from others by a group: its address, or its database once its
// credential is known.
//
// Holders that stand still are ended too: each has to move a little in every window of time.

import type { Clock } from '../../base/clock.ts'
import type { Cancel, Timers } from '../../base/timers.ts'

/** Why a holder has to give up what it holds. */
export type Eviction = 'no room' | 'too slow'

/** Below which part of the bound evictions bring what is held, so that not every byte more evicts again. */
const lowWater = 7 / 8

interface FairBudgetOptions {
  /** What all holders may hold together; a function where that changes. */
  readonly max: number | (() => number)
  /** Absent: holders may stand still. */
  readonly pace?: Pace
}

/** How fast a holder has to move. */
export interface Pace {
  /** Length of a window in milliseconds. */
  readonly windowMs: number
  /** What has to move in each window. */
  readonly amount: number
}

interface Group {
  readonly name: string
  readonly shares: Set<Share>
  held: number
}

/** What all groups hold, and how much they may. */
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

  /** What is held at the moment. */
  get held(): number {
    return this.#held
  }

  /**
   * A share that holds nothing yet. `evict` has to end what the share stands for; by then the share is closed. It may
   * be called from within {@link Share.grow}.
   */
  open(group: string, evict: (reason: Eviction) => void): Share {
    const share = new Share(this, this.#groupOf(group), evict, this.#pace ? this.#clock.elapsedMs() : 0)
    share.group.shares.add(share)
    if (this.#pace) this.#cancelSweep ??= this.#timers.after(this.#pace.windowMs, this.#sweep)
    return share
  }

  /** For {@link Share}: `amount` more is held, or less when it is negative. */
  change(share: Share, amount: number): void {
    if (share.held === amount) {
      // It held nothing before: from now on it is the youngest of its group.
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
    // With a pace, the next sweep does it: most clients come back before.
    if (group.shares.size === 0 && this.#pace === undefined) this.#groups.delete(group.name)
  }

  /** For {@link Share}: moves it to another group. */
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
   * Evicts from a group, the largest share first and of equal ones the one that holds for longest, until it is no larger
   * than `second`.
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

/** What one holder holds. */
export class Share {
  group: Group
  held = 0
  readonly #budget: FairBudget
  readonly #evict: (reason: Eviction) => void
  #closed = false
  #windowFromMs: number
  #moved = 0
  /** Waiting for something that is not the client's doing. */
  #paused = false

  constructor(budget: FairBudget, group: Group, evict: (reason: Eviction) => void, nowMs: number) {
    this.#budget = budget
    this.group = group
    this.#evict = evict
    this.#windowFromMs = nowMs
  }

  /** Holds `amount` more; that counts as movement. The share may be evicted by it. */
  grow(amount: number): void {
    if (this.#closed) return
    this.held += amount
    this.#moved += amount
    this.#budget.change(this, amount)
  }

  /** Holds `amount` less; that counts as movement. */
  shrink(amount: number): void {
    if (this.#closed) return
    this.held -= amount
    this.#moved += amount
    this.#budget.change(this, -amount)
  }

  /** Notes movement of something that is not held. */
  move(amount: number): void {
    this.#moved += amount
  }

  /** What is held counts for another group from now on. */
  regroup(name: string): void {
    if (!this.#closed) this.group = this.#budget.regroup(this, name)
  }

  /** While paused, a share need not move. */
  pause(paused: boolean): void {
    this.#paused = paused
  }

  /** Holds nothing any more. Does nothing the second time. */
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

  /** For {@link FairBudget}: begins a new window when one is over, or evicts when too little has moved in it. */
  checkPace(nowMs: number, { windowMs, amount }: Pace): void {
    if (nowMs - this.#windowFromMs < windowMs) return
    const isTooSlow = this.#moved < amount && !this.#paused
    this.#windowFromMs = nowMs
    this.#moved = 0
    if (isTooSlow) this.end('too slow')
  }
}
