// Runs in a slow-lane process: receives jobs (queries) from the service, and evaluates one at a time with an engine.
// For a query that writes, sends the attempt (its writes and its reads) to the service, which commits it.

import type { Duplex } from 'node:stream'
import { systemClock } from '../../base/clock.ts'
import { receiveFrames, sendFrame } from '../../base/frames.ts'
import { jsonText } from '../../base/json-encoding.ts'
import { limits } from '../../base/limits.ts'
import { epoch, micros } from '../../base/micros.ts'
import type { Attempt } from '../../storage/store/attempt.ts'
import type { IdRange } from '../../storage/store/ids.ts'
import { packAttempt } from '../../storage/store/sent-attempt.ts'
import type { Store } from '../../storage/store/store.ts'
import { StoreUnavailableError } from '../../storage/store/store-contract.ts'
import { prettyPrint } from '../../values/json-pretty.ts'
import type { Micros } from '../../values/value.ts'
import type { Engine, QueryRequest, QueryResponse } from '../engine-contract.ts'
import type { BodyForm, FromLane, ToLane } from './messages.ts'

interface LaneEngine {
  readonly engine: Engine
  readonly store: Pick<Store, 'attemptAt' | 'validated'>
  /** Too little memory is free for the next query: earlier queries may have left unfreed memory. */
  readonly isExhausted: () => boolean
  /** True if the last query failed because of a lack of memory. Called once after each query. */
  readonly takeOutOfMemory: () => boolean
}

/** A query whose attempt waits for the message `committed` or `drop` from the service. */
interface PendingResponse {
  readonly request: QueryRequest
  readonly response: QueryResponse & { readonly attempt: Attempt<unknown> }
}

export class LaneService<Setup> {
  readonly #socket: Duplex
  readonly #open: (setup: Setup) => Promise<LaneEngine>
  #engine: Promise<LaneEngine> | undefined
  #snapshotTime: Micros = epoch
  #hasJobs = false
  #pending: PendingResponse | undefined
  #logSequence = 0
  #idRequest: { resolve: (range: IdRange) => void; reject: (error: Error) => void } | undefined

  /** `open`: creates the engine from the setup that the service sends. */
  constructor(socket: Duplex, open: (setup: Setup) => Promise<LaneEngine>) {
    this.#socket = socket
    this.#open = open
    receiveFrames(socket, ({ head, body }) => this.#receive(head as ToLane<Setup>, body))
  }

  /** Newest read timestamp that the service has sent. */
  get snapshotTime(): Micros {
    return this.#snapshotTime
  }

  /** The next snapshot must contain the records of the commit log up to this sequence number. */
  get logSequence(): number {
    return this.#logSequence
  }

  /** True once the service has sent a job. */
  get hasJobs(): boolean {
    return this.#hasJobs
  }

  /** Requests a further range of ids from the service. `held`: the previous range. */
  reserveIds(held: IdRange | undefined): Promise<IdRange> {
    return new Promise((resolve, reject) => {
      this.#idRequest = { resolve, reject }
      this.#send({ kind: 'ids requested', held })
    })
  }

  #receive(message: ToLane<Setup>, body: readonly Uint8Array[]): void {
    switch (message.kind) {
      case 'setup':
        this.#engine = this.#open(message.setup)
        // If the engine cannot be opened, the process exits.
        void this.#engine.then(() => this.#send({ kind: 'ready' }))
        return
      case 'ids':
        this.#takeIds(message.range)
        return
      case 'validate':
        this.#logSequence = message.logSequence
        void this.#validate()
        return
      case 'evaluate':
        this.#logSequence = message.logSequence
        void this.#evaluateAt(message.time)
        return
      case 'committed':
        void this.#complete(message.time)
        return
      case 'drop':
        this.#pending = undefined
        return
      case 'job': {
        this.#hasJobs = true
        this.#snapshotTime = Math.max(this.#snapshotTime, message.snapshotTime)
        this.#logSequence = message.logSequence
        const text = textOf(body, message.form)
        const { commitLeadMicros, now } = message
        const receivedMs = systemClock.elapsedMs()
        const stampTime = () =>
          micros(now + commitLeadMicros + Math.floor((systemClock.elapsedMs() - receivedMs) * 1000))
        void this.#run({ ...message.request, body: text, stampTime })
      }
    }
  }

  #takeIds(range: IdRange | undefined): void {
    const idRequest = this.#idRequest
    this.#idRequest = undefined
    if (range) idRequest?.resolve(range)
    else idRequest?.reject(new StoreUnavailableError('no ids could be reserved'))
  }

  /** Sends the response or attempt. Never rejects, because the engine responds to every request. */
  async #run(request: QueryRequest): Promise<void> {
    const { engine, isExhausted, takeOutOfMemory } = await (this.#engine as Promise<LaneEngine>)
    const response = await (request.isExplanation
      ? engine.explain(request, undefined)
      : engine.query(request, undefined))
    const { attempt, body } = response
    const ranOutOfMemory = takeOutOfMemory()
    if (isExhausted()) this.#send({ kind: 'exhausted', ranOutOfMemory })
    if (attempt === undefined) {
      const text = bodyText(body, request.prettyBody === true)
      return this.#send({ kind: 'response', response: { ...response, body: '' } }, Buffer.from(text))
    }
    this.#pending = { request, response: { ...response, attempt } }
    const { again: _again, attempt: _attempt, ...rest } = response
    const packed = packAttempt(attempt)
    this.#send({ kind: 'attempt', response: { ...rest, body: '' }, head: packed.head }, packed.body)
  }

  async #validate(): Promise<void> {
    const { store } = await (this.#engine as Promise<LaneEngine>)
    this.#send({
      kind: 'validated',
      since: store.validated((this.#pending as PendingResponse).response.attempt),
    })
  }

  /**
   * Sends a new attempt for a commit at `time`. During this evaluation, the service delays other commits. If the query
   * fails, no attempt is sent: the service then runs the query again as a new job.
   */
  async #evaluateAt(time: Micros): Promise<void> {
    const { store } = await (this.#engine as Promise<LaneEngine>)
    const { request, response } = this.#pending as PendingResponse
    const { again } = response
    if (again === undefined) return this.#send({ kind: 'evaluated' })
    try {
      const attempt = store.attemptAt(again, time)
      const { body } = attempt.result
      this.#pending = { request, response: { ...response, body, attempt } }
      const packed = packAttempt(attempt)
      this.#send({ kind: 'evaluated', head: packed.head }, packed.body)
    } catch {
      this.#send({ kind: 'evaluated' })
    }
  }

  /** Sends the response to a query that was committed at `time`. */
  async #complete(time: Micros): Promise<void> {
    const { engine } = await (this.#engine as Promise<LaneEngine>)
    const { request, response } = this.#pending as PendingResponse
    this.#pending = undefined
    const { again: _again, attempt: _attempt, ...rest } = response
    const text = bodyText(engine.completed(request, response, time), request.prettyBody === true)
    this.#send({ kind: 'response', response: { ...rest, body: '', txnTime: time } }, Buffer.from(text))
  }

  #send(message: FromLane, body?: Uint8Array): void {
    sendFrame(this.#socket, message, body && [body])
  }
}

function textOf(pieces: readonly Uint8Array[], form: BodyForm): string | undefined {
  if (form === 'none') return undefined
  const bytes = Buffer.concat(pieces)
  return form === 'text' ? bytes.toString() : jsonText(bytes)
}

/**
 * If the client requests indentation (`pretty`), this process indents a long body, and the service indents a short one.
 */
function bodyText(body: string, pretty: boolean): string {
  return pretty && body.length > limits.longBodyBytes ? prettyPrint(body) : body
}
