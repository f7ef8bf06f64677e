// The program of a process of the slow lane. It opens the data directory as the service has, runs one query after the
// other, and commits what it has evaluated when the service has announced that; it ends when the service does.

import module from 'node:module'
import { Socket } from 'node:net'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import { assert } from '../base/assert.ts'
import { megabyte } from '../base/bytes.ts'
import { systemClock } from '../base/clock.ts'
import { lowerPriority } from '../base/low-priority.ts'
import { laneDescriptor } from '../engine/slow-lane/lane-process.ts'
import { outOfMemory } from '../engine/slow-lane/out-of-memory.ts'
import { LaneService } from '../engine/slow-lane/serve-jobs.ts'
import { warmUp } from '../engine/slow-lane/warm-up.ts'
import { openServiceLog } from '../server/service-log.ts'
import { openLaneEngine } from './open-engine.ts'
import type { LaneSetup } from './open-slow-lane.ts'

// As in the service itself.
setFlagsFromString('--no-allocation-site-pretenuring')
// The service decides when to stop; a signal from the terminal is for it.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

/** Steps of priority below that of the service: where all cores are wanted, a third of its share is left here. */
const niceness = 5

/** Milliseconds between two looks at what the process itself takes. */
const guardIntervalMs = 20

/** What one query may hold, as a part of the memory that the settings give it; the rest is for garbage. */
const queryPartMax = 0.7

/** What earlier queries have left may take up to this part, on top of a query's own, until the process is replaced. */
const leftPartMax = 0.125

/** From this part on garbage is collected, to see what is held. */
const garbagePart = 0.9

/** What may be remembered for the next queries, which is left too, takes up to this part by its own estimate. */
const rememberedPart = 0.0625

/**
 * Watches the memory of the process. What it holds at the first look is the program's and counts for no query; what a query
 * leaves is found out before another database's query would lack it.
 */
class MemoryGuard {
  readonly #maxMb: number
  readonly #service = process.ppid
  #nextMs = 0
  #programMb: number | undefined
  #hasLacked = false

  constructor(maxMb: number) {
    this.#maxMb = maxMb
  }

  /** Refuses the query under way before the runtime runs out of memory, which would end the process. */
  readonly check = () => {
    const nowMs = systemClock.elapsedMs()
    if (nowMs < this.#nextMs) return
    this.#nextMs = nowMs + guardIntervalMs
    // The process that asked is gone.
    if (process.ppid !== this.#service) process.kill(process.pid, 'SIGKILL')
    this.#programMb ??= memoryMb()
    if (this.#usedPart() < garbagePart) return
    globalThis.gc?.()
    // Whatever is left of others, which is little, does not count.
    if (this.#usedPart() <= queryPartMax + leftPartMax) return
    this.#hasLacked = true
    throw outOfMemory(this.#maxMb)
  }

  /** To be asked behind a query: whether it was refused. */
  readonly takeLack = () => {
    const hasLacked = this.#hasLacked
    this.#hasLacked = false
    return hasLacked
  }

  /** To be asked behind a query: garbage does not count. */
  readonly isSpent = () => {
    if (this.#programMb === undefined || this.#usedPart() <= leftPartMax) return false
    globalThis.gc?.()
    return this.#usedPart() > leftPartMax
  }

  /** What is held besides the program, as a part of what one query may have. */
  #usedPart(): number {
    return (memoryMb() - (this.#programMb as number)) / this.#maxMb
  }
}

function memoryMb(): number {
  const { external_memory: external, used_heap_size: heap } = getHeapStatistics()
  return (external + heap) / megabyte
}

/** Runs what may fail, and says why: what else a process of the slow lane writes is not for the log. */
function told<T>(log: Logger, open: () => T): T {
  try {
    return open()
  } catch (cause) {
    log.fatal({ reason: String(cause) }, 'a process of the slow lane cannot open the data')
    process.exit(1)
  }
}

const socket = new Socket({ fd: laneDescriptor })
// Not by a clean exit, which waits for a thread of LMDB that may wait for this one.
socket.on('close', () => process.kill(process.pid, 'SIGKILL'))

const service: LaneService<LaneSetup> = new LaneService(socket, async setup => {
  const log = openServiceLog(setup.config.logLevel)
  const { ppid } = process
  const memory = new MemoryGuard(setup.config.slowLaneMemoryMb)
  const { engine, store } = told(log, () =>
    openLaneEngine(setup, log, {
      reserveIds: held => service.reserveIds(held),
      onCheck: memory.check,
      rememberedBytesMax: setup.config.slowLaneMemoryMb * megabyte * rememberedPart,
      snapshotTime: () => service.snapshotTime,
    }),
  )
  // This process will be killed, which leaves no time for it. The first releases of Node 22 have no such call.
  module.flushCompileCache?.()
  lowerPriority(niceness)
  setImmediate(() => void warmUp(engine, setup.config.rootSecret, () => !service.hasJobs))
  return {
    engine,
    store,
    isSpent: memory.isSpent,
    takeLack: memory.takeLack,
    checkService: () => assert(process.ppid === ppid, 'the service that has announced the commit lives'),
  }
})
