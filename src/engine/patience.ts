// How long an evaluation may hold the process that serves everybody. One that is dropped for taking too long has
// wasted that time; whoever lets that happen over and over gets less of it each time, so that it stays a small share.

import { LRUCache } from 'lru-cache'
import type { Clock } from '../base/clock.ts'
import { limits } from '../limits.ts'
import type { Hold } from './slow-lane.ts'

/** Queues whose waste is remembered; a forgotten one has wasted nothing. */
const queuesMax = 10_000

interface Waste {
  /** Milliseconds wasted and not forgiven, as of `atMs`. */
  ms: number
  atMs: number
}

export class Patience {
  readonly #ms: number
  readonly #clock: Clock
  readonly #wastes = new LRUCache<string, Waste>({ max: queuesMax })

  /** `ms`: what an evaluation may take of a queue that has wasted little. */
  constructor(ms: number, clock: Clock) {
    this.#ms = ms
    this.#clock = clock
  }

  /** The share of an evaluation that begins now. */
  hold(queue: string): Hold {
    const startMs = this.#clock.elapsedMs()
    const endMs = startMs + this.#of(queue, startMs)
    return {
      isOver: () => this.#clock.elapsedMs() >= endMs,
      wasted: () => this.#waste(queue, this.#clock.elapsedMs() - startMs),
    }
  }

  #of(queue: string, nowMs: number): number {
    const waste = this.#wastes.get(queue)
    const isWasteful = waste !== undefined && remaining(waste, nowMs) > limits.wastedMsFree
    return isWasteful ? Math.min(this.#ms, limits.impatientMs) : this.#ms
  }

  #waste(queue: string, ms: number): void {
    const nowMs = this.#clock.elapsedMs()
    const waste = this.#wastes.get(queue)
    const before = waste === undefined ? 0 : remaining(waste, nowMs)
    this.#wastes.set(queue, { ms: before + ms, atMs: nowMs })
  }
}

function remaining({ atMs, ms }: Waste, nowMs: number): number {
  return Math.max(0, ms - ((nowMs - atMs) * limits.forgivenMsPerSecond) / 1000)
}
