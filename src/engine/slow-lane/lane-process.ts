// Controls one slow-lane process from the service. The process runs one job at a time. When it exits for any reason,
// its current job fails, and later jobs run in another process.

import type { ChildProcess } from 'node:child_process'
import type { Duplex } from 'node:stream'
import { receiveFrames, sendFrame } from '../../base/frames.ts'
import { limits } from '../../base/limits.ts'
import { msg } from '../../base/message.ts'
import { RequestError } from '../../base/request-errors.ts'
import type { AttemptHead } from '../../storage/store/attempt.ts'
import type { IdRange, ReserveIds } from '../../storage/store/ids.ts'
import { unpackAttempt } from '../../storage/store/sent-attempt.ts'
import { LongBody, type QueryResponse } from '../engine-contract.ts'
import type { LaneOutcome } from '../slow-lane-contract.ts'
import type { FromLane, ToLane } from './messages.ts'
import { outOfMemory } from './out-of-memory.ts'
import { PendingJob } from './pending-job.ts'

/** File descriptor, in a slow-lane process, of the socket to the service. */
export const laneDescriptor = 3

export interface LaneOptions {
  /** Provides a socket at {@link laneDescriptor}. */
  readonly spawn: () => ChildProcess
  readonly reserveIds: ReserveIds
  /** Returns the sequence number of the newest durable record in the commit log; 0 without a log. */
  readonly logSequence: () => number
  readonly memoryMb: number
  /** Returns how many processes the system has killed so far for lack of memory. */
  readonly memoryKills: () => number
  /** Called when a process exits unexpectedly. */
  readonly onDeath: (reason: string) => void
}

interface RunningJob {
  readonly resolve: (outcome: LaneOutcome) => void
  readonly reject: (error: unknown) => void
  readonly onCommit: () => void
  readonly onOver: () => void
}

/** Last characters of standard error that the service keeps, to explain the exit of the process. */
const stderrTailMax = 4096

const exited = (cause: string) => new Error(`a process of the slow lane has exited (${cause})`)

/** Error of a job whose process a signal has ended, such as SIGSEGV or a kill by another program. Nothing was written. */
const killed = () =>
  new RequestError(
    'service unavailable',
    msg`The process that evaluated the query was killed; nothing was written.`,
  )

export class LaneProcess {
  readonly #options: LaneOptions
  readonly #child: ChildProcess
  /** Undefined if the process could not be started. */
  readonly #socket: Duplex | undefined
  /** Resolves when the process accepts jobs. Never resolves if it exits during its start. */
  readonly ready: Promise<void>
  readonly ended: Promise<void>
  readonly #start = Promise.withResolvers<void>()
  #isReady = false
  #isExhausted = false
  #ranOutOfMemory = false
  #running: RunningJob | undefined
  /** A job from the arrival of its attempt until it is dropped, or until its response arrives after the commit. */
  #pending: PendingJob | undefined
  #verdict: RequestError | undefined
  #stderrTail = ''
  /** The beginning of a line of standard error whose rest has not arrived yet. */
  #stderrLine = ''
  #isEnding = false
  /** `memoryKills` at the start of the last job or, before the first job, of the process. */
  #memoryKillsBefore: number

  constructor(options: LaneOptions) {
    this.#options = options
    this.#memoryKillsBefore = options.memoryKills()
    this.#child = options.spawn()
    this.ready = this.#start.promise
    // Always present in Node's types, but undefined if no file descriptors are available.
    this.#socket = this.#child.stdio?.[laneDescriptor] as Duplex | undefined
    // When the process exits, its socket fails, too. The exit event reports the reason.
    this.#socket?.on('error', () => {})
    if (this.#socket) receiveFrames(this.#socket, ({ head, body }) => this.#receive(head as FromLane, body))
    this.#child.stderr?.on('error', () => {})
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => this.#readStderr(text))
    this.ended = new Promise(resolve => {
      const onEnd = (end: string, signal: string | null) => {
        this.#fail(end, signal)
        resolve()
      }
      this.#child.once('exit', (code, signal) => onEnd(signal ?? `exit status ${code}`, signal))
      // Emitted if the process could not be started or killed.
      this.#child.on('error', ({ message }) => onEnd(message, null))
    })
  }

  /** True once the process has exited or {@link kill} was called; the process runs no more jobs. */
  get hasEnded(): boolean {
    return this.#isEnding || this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  get isReady(): boolean {
    return this.#isReady
  }

  /** The memory of earlier queries is not freed, or the process exited because of a lack of memory. */
  get isExhausted(): boolean {
    return this.#isExhausted
  }

  /** The last query failed because of a lack of memory. */
  get ranOutOfMemory(): boolean {
    return this.#ranOutOfMemory
  }

  /** The service commits a query of this process, which should not be killed meanwhile. */
  get isCommitting(): boolean {
    return this.#pending?.isCommitting === true
  }

  /**
   * Calls `onCommit` when the commit of the query begins, and `onOver` when the process has no more work for the job,
   * also because it has exited.
   */
  run(
    job: Extract<ToLane, { kind: 'job' }>,
    body: readonly Uint8Array[],
    on: Pick<RunningJob, 'onCommit' | 'onOver'>,
  ): Promise<LaneOutcome> {
    return new Promise((resolve, reject) => {
      this.#running = { resolve, reject, ...on }
      this.#ranOutOfMemory = false
      this.#memoryKillsBefore = this.#options.memoryKills()
      this.#send(job, body)
    })
  }

  /** Kills the process at once. Its job fails with `verdict`, or with the cause of the exit if `verdict` is absent. */
  kill(verdict?: RequestError): void {
    this.#isEnding = true
    this.#verdict = verdict
    this.#child.kill('SIGKILL')
  }

  #readStderr(text: string): void {
    this.#stderrTail = (this.#stderrTail + text).slice(-stderrTailMax)
    // Lines in JSON are log lines of the process, so they are passed on to the service's log. Other lines come from the
    // runtime, such as its report of an out-of-memory error.
    const lines = (this.#stderrLine + text).split('\n')
    this.#stderrLine = lines.pop() ?? ''
    for (const line of lines) if (line.startsWith('{')) process.stderr.write(`${line}\n`)
  }

  #receive(message: FromLane, body: readonly Uint8Array[]): void {
    switch (message.kind) {
      case 'ids requested':
        this.#reserveIds(message.held)
        break
      case 'ready':
        this.#isReady = true
        this.#start.resolve()
        break
      case 'exhausted':
        this.#isExhausted = true
        this.#ranOutOfMemory = message.ranOutOfMemory
        break
      case 'attempt':
        void this.#receiveAttempt(message, body)
        break
      case 'evaluated':
        void this.#receiveNewAttempt(message.head, body)
        break
      case 'validated':
        this.#pending?.onValidated(message.since)
        break
      case 'response': {
        const response = withBody(message.response, body)
        // The job is removed first, because `onResponse` and `onOver` may start the next job in the process.
        const pending = this.#takePending()
        const running = pending === undefined ? this.#takeRunning() : undefined
        pending?.onResponse(response)
        running?.resolve(response)
        running?.onOver()
      }
    }
  }

  #reserveIds(held: IdRange | undefined): void {
    const reply = (range: IdRange | undefined) => this.#send({ kind: 'ids', range })
    this.#options.reserveIds(held).then(reply, () => reply(undefined))
  }

  #send(message: ToLane, body?: readonly Uint8Array[]): void {
    if (this.#socket && !this.hasEnded) sendFrame(this.#socket, message, body)
  }

  async #receiveAttempt(
    { head, response }: Extract<FromLane, { kind: 'attempt' }>,
    body: readonly Uint8Array[],
  ): Promise<void> {
    const attempt = await unpackAttempt(head, body)
    // The process may have exited while the attempt was unpacked.
    const running = this.#takeRunning()
    if (running === undefined) return
    const { onCommit, onOver, resolve } = running
    const pending = new PendingJob({
      attempt,
      logSequence: this.#options.logSequence,
      onCommit,
      onOver: () => {
        if (this.#pending === pending) this.#pending = undefined
        onOver()
      },
      send: message => this.#send(message),
    })
    this.#pending = pending
    resolve({ ...response, pending })
  }

  async #receiveNewAttempt(head: AttemptHead | undefined, body: readonly Uint8Array[]): Promise<void> {
    const pending = this.#pending
    pending?.onEvaluated(head === undefined ? 'stale' : await unpackAttempt(head, body))
  }

  #takeRunning(): RunningJob | undefined {
    const running = this.#running
    this.#running = undefined
    return running
  }

  #takePending(): PendingJob | undefined {
    const pending = this.#pending
    this.#pending = undefined
    return pending
  }

  /**
   * Fails the jobs of an exited process. `end`: the exit status, the signal, or the reason why the process could not be
   * started.
   */
  #fail(end: string, signal: string | null): void {
    const wasKilled = this.#isEnding
    this.#isEnding = true
    const running = this.#takeRunning()
    const pending = this.#takePending()
    const isOutOfMemory = this.#isOutOfMemory(signal)
    if (isOutOfMemory) {
      this.#isExhausted = true
      this.#ranOutOfMemory = true
    }
    const cause = isOutOfMemory ? 'out of memory' : end
    const unexpected = () =>
      isOutOfMemory ? outOfMemory(this.#options.memoryMb) : signal === null ? exited(cause) : killed()
    const reason = this.#verdict ?? unexpected()
    running?.reject(reason)
    running?.onOver()
    pending?.fail(reason)
    if (!wasKilled && (running || pending || end !== 'exit status 0')) this.#options.onDeath(cause)
  }

  /**
   * True if the process exited because of a lack of memory. At the process's own memory limit, the runtime reports this
   * on standard error and aborts. If the system lacks memory, it sends SIGKILL to the largest process. Other programs
   * may also send SIGKILL, so this method checks the system's counter of out-of-memory kills.
   */
  #isOutOfMemory(signal: string | null): boolean {
    if (signal === 'SIGKILL') return this.#options.memoryKills() > this.#memoryKillsBefore
    return /[Oo]ut of memory/.test(this.#stderrTail)
  }
}

function withBody(response: QueryResponse, pieces: readonly Uint8Array[]): QueryResponse {
  if (pieces.length === 0) return response
  const body = new LongBody(pieces)
  if (body.length > limits.longBodyBytes) return { ...response, longBody: body }
  return { ...response, body: Buffer.concat(pieces).toString() }
}
