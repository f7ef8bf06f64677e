// Runs the queries of a slow-lane process on the data directory of the service, one at a time. The service commits
// their writes. The process exits when the service exits.

import module from 'node:module'
import { Socket } from 'node:net'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import { megabyte } from '../base/bytes.ts'
import { systemClock } from '../base/clock.ts'
import { lowerPriority } from '../base/system-process.ts'
import { laneDescriptor } from '../engine/slow-lane/lane-process.ts'
import { outOfMemory } from '../engine/slow-lane/out-of-memory.ts'
import { LaneService } from '../engine/slow-lane/serve-jobs.ts'
import { warmUp } from '../engine/slow-lane/warm-up.ts'
import { openServiceLog } from '../server/service-log.ts'
import { openLaneEngine } from './open-engine.ts'
import type { LaneSetup } from './open-slow-lane.ts'

// The service sets the same flag (src/cli/program.ts).
setFlagsFromString('--no-allocation-site-pretenuring')
// The service decides when this process stops, so a signal from the terminal is ignored.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

/** If all cores are busy, the process gets a third of the service's CPU time. */
const niceness = 5

/** Milliseconds between two checks of the process's memory. */
const guardIntervalMs = 20

/** Limit of a query's live memory, as a fraction of the configured memory. The rest is reserved for garbage. */
const queryPartMax = 0.7

/**
 * Limit of the memory that earlier queries have not freed, as a fraction of the configured memory. Above this limit,
 * the process is replaced.
 */
const unfreedPartMax = 0.125

/** Above this fraction of the configured memory, garbage is collected to measure the live memory. */
const garbagePart = 0.9

/**
 * Limit of the cache with the reads of earlier queries, as a fraction of the configured memory. The cache counts as
 * memory that earlier queries have not freed.
 */
const rememberedPart = 0.0625

/**
 * The memory at the first check belongs to the program, not to a query. The guard also detects memory that a query has
 * not freed, which a later query of another database could lack.
 */
class MemoryGuard {
  readonly #maxMb: number
  readonly #service = process.ppid
  #nextMs = 0
  #programMb: number | undefined
  #ranOutOfMemory = false

  constructor(maxMb: number) {
    this.#maxMb = maxMb
  }

  /** Fails the running query before the process runs out of memory and is killed. */
  readonly check = () => {
    const nowMs = systemClock.elapsedMs()
    if (nowMs < this.#nextMs) return
    this.#nextMs = nowMs + guardIntervalMs
    // If the parent process has changed, the service has exited.
    if (process.ppid !== this.#service) process.kill(process.pid, 'SIGKILL')
    this.#programMb ??= memoryMb()
    if (this.#usedPart() < garbagePart) return
    globalThis.gc?.()
    // The limit includes the memory that earlier queries may leave unfreed.
    if (this.#usedPart() <= queryPartMax + unfreedPartMax) return
    this.#ranOutOfMemory = true
    throw outOfMemory(this.#maxMb)
  }

  /** Called after a query: returns whether it failed for lack of memory. */
  readonly takeOutOfMemory = () => {
    const ranOutOfMemory = this.#ranOutOfMemory
    this.#ranOutOfMemory = false
    return ranOutOfMemory
  }

  /** Called after a query: true if the process should be replaced, because too much memory is not freed. */
  readonly isExhausted = () => {
    if (this.#programMb === undefined || this.#usedPart() <= unfreedPartMax) return false
    globalThis.gc?.()
    return this.#usedPart() > unfreedPartMax
  }

  /** Returns the used fraction of the configured memory, without the memory of the program itself. */
  #usedPart(): number {
    return (memoryMb() - (this.#programMb as number)) / this.#maxMb
  }
}

function memoryMb(): number {
  const { external_memory: external, used_heap_size: heap } = getHeapStatistics()
  return (external + heap) / megabyte
}

/** Logs the reason of a failure, because the service does not log other output of this process. */
function openOrExit<T>(log: Logger, open: () => T): T {
  try {
    return open()
  } catch (cause) {
    log.fatal({ reason: String(cause) }, 'a process of the slow lane cannot open the data directory')
    process.exit(1)
  }
}

const socket = new Socket({ fd: laneDescriptor })
// A clean exit could wait forever for a thread of LMDB that waits for the main thread.
socket.on('close', () => process.kill(process.pid, 'SIGKILL'))

const service: LaneService<LaneSetup> = new LaneService(socket, async setup => {
  const log = openServiceLog(setup.config.logLevel)
  const memory = new MemoryGuard(setup.config.slowLaneMemoryMb)
  const { engine, store } = openOrExit(log, () =>
    openLaneEngine(setup, log, {
      reserveIds: held => service.reserveIds(held),
      onCheck: memory.check,
      rememberedBytesMax: setup.config.slowLaneMemoryMb * megabyte * rememberedPart,
      snapshotTime: () => service.snapshotTime,
      logSequence: () => service.logSequence,
    }),
  )
  // Node flushes the compile cache only at a normal exit, and this process is killed. The first releases of Node 22
  // lack this function.
  module.flushCompileCache?.()
  lowerPriority(niceness)
  setImmediate(() => void warmUp(engine, setup.config.rootSecret, () => !service.hasJobs))
  return { engine, store, isExhausted: memory.isExhausted, takeOutOfMemory: memory.takeOutOfMemory }
})
