// The program of a process of the slow lane. It opens the data directory as the service has, runs one query after the
// other, and commits what it has evaluated when the service has announced that; it ends when the service does.

import module from 'node:module'
import { Socket } from 'node:net'
import { getHeapStatistics, setFlagsFromString } from 'node:v8'
import type { Logger } from 'pino'
import { assert } from './base/assert.ts'
import { megabyte } from './base/bytes.ts'
import { systemClock } from './base/clock.ts'
import { lowerPriority } from './base/low-priority.ts'
import { openLaneEngine } from './open-engine.ts'
import type { LaneSetup } from './open-slow-lane.ts'
import { openServiceLog } from './service-log.ts'
import { laneDescriptor } from './slow-lane/lane-process.ts'
import { outOfMemory } from './slow-lane/out-of-memory.ts'
import { LaneService } from './slow-lane/serve-jobs.ts'
import { warmUp } from './slow-lane/warm-up.ts'

// As in the service itself.
setFlagsFromString('--no-allocation-site-pretenuring')
// The service decides when to stop; a signal from the terminal is for it.
process.on('SIGINT', () => {})
process.on('SIGTERM', () => {})

/** Steps of priority below that of the service: where all cores are wanted, a third of its share is left here. */
const niceness = 5

/** Milliseconds between two looks at what the process itself takes. */
const guardIntervalMs = 20

/**
 * Refuses the query under way before the runtime runs out of memory, which would end the process. What the process holds
 * at its first look is the program's and counts for no query.
 */
function memoryGuard(maxMb: number): () => void {
  const service = process.ppid
  let nextMs = 0
  let programMb: number | undefined
  return () => {
    const nowMs = systemClock.elapsedMs()
    if (nowMs < nextMs) return
    nextMs = nowMs + guardIntervalMs
    // The process that asked is gone.
    if (process.ppid !== service) process.kill(process.pid, 'SIGKILL')
    programMb ??= memoryMb()
    if (memoryMb() - programMb < maxMb * 0.8) return
    globalThis.gc?.()
    if (memoryMb() - programMb > maxMb * 0.7) throw outOfMemory(maxMb)
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
  const { engine, store } = told(log, () =>
    openLaneEngine(setup, log, {
      reserveIds: held => service.reserveIds(held),
      onCheck: memoryGuard(setup.config.slowLaneMemoryMb),
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
    checkService: () => assert(process.ppid === ppid, 'the service that has announced the commit lives'),
  }
})
