// Starts the processes of the slow lane: the same program over the same data directory, with less memory and less right to
// the processor than the service itself.

import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { type Clock, starvedMs } from '../base/clock.ts'
import { compileCache, programFile, startProgram } from '../base/program-files.ts'
import type { Timers } from '../base/timers.ts'
import { sendFrame } from '../engine/slow-lane/frames.ts'
import { laneDescriptor } from '../engine/slow-lane/lane-process.ts'
import type { ToLane } from '../engine/slow-lane/messages.ts'
import { systemMemoryKills } from '../engine/slow-lane/out-of-memory.ts'
import { ProcessLane } from '../engine/slow-lane/slow-lane.ts'
import { reserveStretch } from '../storage/store/id-reservation.ts'
import type { Store } from '../storage/store/store.ts'
import type { Config } from './config/settings.ts'

/** What a process is told first. */
export interface LaneSetup {
  readonly config: Config
  /** The identity of the data directory that the service holds. */
  readonly folder: string
  /** The number of the process that serves. */
  readonly worker: number
}

const program = programFile('app/slow-lane-main.ts')

/** What the variables of settings begin with. */
const settingPrefix = 'TERRARIUM_'

/**
 * The stack of a process, in KiB, for queries that need more than the service has. The usual 8 MiB of the main thread also
 * hold the environment, and what native code needs.
 */
const stackKibibytes = 7000

/** The usual size of the young generation, in MiB. */
const youngMebibytes = 16

/** The slow lane of one process that serves; nothing is started before it is needed or {@link ProcessLane.keepReady}. */
export function openSlowLane(
  setup: LaneSetup,
  store: Store,
  { clock, log, timers }: { readonly clock: Clock; readonly timers: Timers; readonly log: Logger },
): ProcessLane {
  const { config, worker } = setup
  const processesMax = Math.ceil(config.slowLaneProcesses / config.workers)
  return new ProcessLane({
    processesMax,
    afterMs: config.slowLaneAfterMs,
    memoryMb: config.slowLaneMemoryMb,
    memoryKills: systemMemoryKills,
    clock,
    starvedMs,
    timers,
    spawn: () => start(setup),
    reserveIds: held => reserveStretch(store, worker, held),
    onDeath: reason => log.error({ reason }, 'a process of the slow lane has ended'),
  })
}

/** What a process of the slow lane holds before it has a query: some 60 for both languages. */
const programMebibytes = 80

function start(setup: LaneSetup): ChildProcess {
  // The service may have been started with a larger young generation, which the memory of a process here does not count.
  const flags = [
    `--max-old-space-size=${programMebibytes + setup.config.slowLaneMemoryMb}`,
    `--max-semi-space-size=${youngMebibytes}`,
    `--stack-size=${stackKibibytes}`,
    '--expose-gc',
  ]
  const env = { NODE_COMPILE_CACHE: compileCache, ...withoutSettings(process.env) }
  const child = startProgram(program, { flags }, { env, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] })
  // Absent when there were no descriptors left.
  const socket = child.stdio?.[laneDescriptor] as Duplex | undefined
  if (socket === undefined) return child
  // Tells of its own end by the process's.
  socket.on('error', () => {})
  sendFrame(socket, { kind: 'setup', setup } satisfies ToLane<LaneSetup>)
  return child
}

/** The settings come with the setup, and the root secret is among them: an environment can be read by other programs. */
function withoutSettings(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !name.startsWith(settingPrefix)))
}
