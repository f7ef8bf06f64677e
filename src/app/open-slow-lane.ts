// Starts the processes of the slow lane on the data directory of the service, with less memory and a lower priority
// than the service.

import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
import type { Logger } from 'pino'
import { type Clock, starvedMs } from '../base/clock.ts'
import { sendFrame } from '../base/frames.ts'
import { compileCache, environmentWithoutSettings, programFile, startProgram } from '../base/program-files.ts'
import type { Timers } from '../base/timers.ts'
import { laneDescriptor } from '../engine/slow-lane/lane-process.ts'
import type { ToLane } from '../engine/slow-lane/messages.ts'
import { systemMemoryKills } from '../engine/slow-lane/out-of-memory.ts'
import { ProcessLane } from '../engine/slow-lane/process-pool.ts'
import type { ReserveIds } from '../storage/store/ids.ts'
import type { Config } from './config/settings.ts'

/** The first message to a process. Its settings include the root secret. */
export interface LaneSetup {
  readonly config: Config
  /** Identity of the data directory that the service has claimed. */
  readonly folder: string
  readonly worker: number
}

const program = programFile('app/slow-lane-main.ts')

/**
 * The stack in KiB, larger than the stack of the service. The main thread usually has 8 MiB for this stack, the
 * environment and the stack of native code.
 */
const stackKibibytes = 7000

/** Maximum size of a semi-space in MiB. V8's young generation consists of three semi-spaces. */
const semiSpaceMebibytes = 16

interface LaneParts {
  readonly clock: Clock
  readonly timers: Timers
  readonly log: Logger
  /** Undefined without a commit log. */
  readonly logSequence?: (() => number) | undefined
  readonly reserveIds: ReserveIds
}

/** Processes start on demand, or with {@link ProcessLane.keepReady}. */
export function openSlowLane(
  setup: LaneSetup,
  { clock, log, logSequence = () => 0, reserveIds, timers }: LaneParts,
): ProcessLane {
  const { config } = setup
  const processesMax = Math.ceil(config.slowLaneProcesses / config.workers)
  return new ProcessLane({
    processesMax,
    afterMs: config.slowLaneAfterMs,
    memoryMb: config.slowLaneMemoryMb,
    memoryKills: systemMemoryKills,
    logSequence,
    clock,
    starvedMs,
    timers,
    spawn: () => start(setup),
    reserveIds,
    onDeath: reason => log.error({ reason }, 'a process of the slow lane has exited'),
  })
}

/** Memory for the program itself: with both query languages, it uses about 60 MiB before its first query. */
const programMebibytes = 80

function start(setup: LaneSetup): ChildProcess {
  // `--max-old-space-size` excludes V8's young generation, which has a flag of its own.
  const flags = [
    `--max-old-space-size=${programMebibytes + setup.config.slowLaneMemoryMb}`,
    `--max-semi-space-size=${semiSpaceMebibytes}`,
    `--stack-size=${stackKibibytes}`,
    '--expose-gc',
  ]
  const env = { NODE_COMPILE_CACHE: compileCache, ...environmentWithoutSettings() }
  const child = startProgram(program, { flags }, { env, stdio: ['ignore', 'ignore', 'pipe', 'pipe'] })
  // The socket is missing when this process has no free file descriptors.
  const socket = child.stdio?.[laneDescriptor] as Duplex | undefined
  if (socket === undefined) return child
  // The exit of the process is reported instead.
  socket.on('error', () => {})
  sendFrame(socket, { kind: 'setup', setup } satisfies ToLane<LaneSetup>)
  return child
}
