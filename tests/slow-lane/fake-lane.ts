// A slow lane over fake processes, for tests that decide what the processes do.

import assert from 'node:assert/strict'
import type { ChildProcess } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import { type Duplex, duplexPair, PassThrough } from 'node:stream'
import { Ticket } from '../../src/base/admission/ticket.ts'
import { receiveFrames, sendFrame } from '../../src/base/frames.ts'
import { micros } from '../../src/base/micros.ts'
import type { QueryResponse } from '../../src/engine/engine-contract.ts'
import type { FromLane, ToLane } from '../../src/engine/slow-lane/messages.ts'
import { ProcessLane } from '../../src/engine/slow-lane/process-pool.ts'
import { ManualTime } from '../query-log/manual-time.ts'

export const emptyResponse: QueryResponse = {
  status: 200,
  body: '',
  txnTime: micros(1),
  metrics: undefined,
  database: 0n,
}

/** A process of the slow lane that does what its test says. */
export class FakeProcess extends EventEmitter {
  readonly #far: Duplex
  readonly stderr = new PassThrough()
  readonly stdio: readonly unknown[]
  readonly received: { readonly message: ToLane; readonly body: string }[] = []
  #answered = 0
  exitCode: number | null = null
  signalCode: string | null = null

  constructor() {
    super()
    const [near, far] = duplexPair()
    this.#far = far
    this.stdio = [null, null, this.stderr, near]
    receiveFrames(far, ({ head, body }) => {
      this.received.push({ message: head as ToLane, body: Buffer.concat(body).toString() })
      this.emit('received')
    })
  }

  /** Resolves when the process has a job without a response. */
  async working(): Promise<void> {
    const jobs = () => this.received.filter(({ message }) => message.kind === 'job').length
    while (jobs() <= this.#answered) await once(this, 'received')
  }

  answer(body: string): void {
    this.#answered++
    this.say({ kind: 'response', response: emptyResponse }, body)
  }

  say(message: FromLane, body: string | Uint8Array = ''): void {
    sendFrame(this.#far, message, [Buffer.from(body)])
  }

  kill(signal: string): void {
    this.end(null, signal)
  }

  end(code: number | null, signal: string | null): void {
    this.exitCode = code
    this.signalCode = signal
    this.emit('exit', code, signal)
  }
}

/** Starts a lane over fake processes. `isReady`: they are ready at once. `first` makes the first process. */
export function laneOf(processesMax: number, isReady = true, first?: () => FakeProcess) {
  let makeFirst = first
  const time = new ManualTime()
  const started: FakeProcess[] = []
  const deaths: string[] = []
  const system = { memoryKills: 0 }
  const lane = new ProcessLane({
    processesMax,
    afterMs: 20,
    memoryMb: 512,
    memoryKills: () => system.memoryKills,
    timers: time,
    clock: time,
    starvedMs: () => 0,
    spawn: () => {
      if (makeFirst) {
        const made = makeFirst()
        makeFirst = undefined
        return made as unknown as ChildProcess
      }
      const process = new FakeProcess()
      started.push(process)
      if (isReady) process.say({ kind: 'ready' })
      return process as unknown as ChildProcess
    },
    logSequence: () => 12,
    reserveIds: async held => ({ worker: held?.worker ?? 0, startMs: 0, endMs: 1 }),
    onDeath: reason => deaths.push(reason),
  })
  const run = (queue: string, body: string, timeoutMs = 1000, ticket = new Ticket(queue)) => {
    const request = { authorization: 'x', language: '4', dialect: '4', body, timeoutMs } as const
    const times = { snapshotTime: micros(7), now: () => micros(9), commitLeadMicros: 5 }
    return lane.run({ request, queue, ticket, timeoutMs, ...times })
  }
  return { deaths, lane, run, started, system, time }
}

/** Returns the body of a response. */
export const bodyOf = (outcome: unknown) => (outcome as QueryResponse).body

/** Resolves with the bodies of all jobs of a process, when it has received so many. */
export async function received(process: FakeProcess | undefined, count: number): Promise<string[]> {
  assert.ok(process)
  while (process.received.length < count) await once(process, 'received')
  return process.received.map(({ body }) => body)
}

/** Lets a process respond to its job, which is a query with this outcome. */
export async function assertAnswer(
  process: FakeProcess | undefined,
  outcome: Promise<unknown>,
  body = 'done',
): Promise<void> {
  assert.ok(process)
  await process.working()
  process.answer(body)
  assert.equal(bodyOf(await outcome), body)
}
