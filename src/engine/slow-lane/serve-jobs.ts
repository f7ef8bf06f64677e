// The slow-lane process's side: evaluates one job after the other on its own engine.

import type { Duplex } from 'node:stream'
import { systemClock } from '../../base/clock.ts'
import { jsonText } from '../../base/json-encoding.ts'
import { limits } from '../../base/limits.ts'
import { epoch, micros } from '../../base/micros.ts'
import type { Attempt } from '../../storage/store/attempt.ts'
import { StoreUnavailableError, type Transaction } from '../../storage/store/contract.ts'
import type { IdStretch } from '../../storage/store/ids.ts'
import type { Store } from '../../storage/store/store.ts'
import { prettyPrint } from '../../values/json-pretty.ts'
import type { Micros } from '../../values/value.ts'
import type { Engine, QueryRequest, QueryResponse } from '../contract.ts'
import { receiveFrames, sendFrame } from './frames.ts'
import type { BodyForm, FromLane, ToLane } from './messages.ts'

/** The engine and the store of a slow-lane process. */
interface LaneEngine {
  readonly engine: Engine
  readonly store: Pick<Store, 'commit'>
  /** Throws if the service that announced the commit has exited. */
  readonly checkService: () => void
  /** Returns whether earlier queries have left too little free memory for another query. */
  readonly isSpent: () => boolean
  /** Returns whether the last query failed because of a lack of memory. Called once after each query. */
  readonly takeLack: () => boolean
}

/** A response whose attempt waits for the service's `commit` or `drop`. */
interface Kept {
  readonly request: QueryRequest
  readonly response: QueryResponse & { readonly attempt: Attempt<unknown> }
}

/** The jobs of a slow-lane process. */
export class LaneService<Setup> {
  readonly #socket: Duplex
  readonly #open: (setup: Setup) => Promise<LaneEngine>
  #engine: Promise<LaneEngine> | undefined
  #snapshotTime: Micros = epoch
  #hasJobs = false
  #kept: Kept | undefined
  #wanting: { resolve: (stretch: IdStretch) => void; reject: (error: Error) => void } | undefined

  /** `open` creates the engine from the service's setup. */
  constructor(socket: Duplex, open: (setup: Setup) => Promise<LaneEngine>) {
    this.#socket = socket
    this.#open = open
    receiveFrames(socket, ({ head, body }) => this.#receive(head as ToLane<Setup>, body))
  }

  /** The newest read timestamp of the service. Later commits have later times. */
  get snapshotTime(): Micros {
    return this.#snapshotTime
  }

  /** True after the first job. */
  get hasJobs(): boolean {
    return this.#hasJobs
  }

  /** Requests a range of ids after the previous range from the service. */
  reserveIds(held: IdStretch | undefined): Promise<IdStretch> {
    return new Promise((resolve, reject) => {
      this.#wanting = { resolve, reject }
      this.#send({ kind: 'ids wanted', held })
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
        this.#takeIds(message.stretch)
        return
      case 'commit':
        void this.#commit(message)
        return
      case 'drop':
        this.#kept = undefined
        return
      case 'job': {
        this.#hasJobs = true
        this.#snapshotTime = Math.max(this.#snapshotTime, message.snapshotTime)
        const text = textOf(body, message.form)
        const { lead, now } = message
        const receivedMs = systemClock.elapsedMs()
        const stampTime = () => micros(now + lead + Math.floor((systemClock.elapsedMs() - receivedMs) * 1000))
        void this.#run({ ...message.request, body: text, stampTime })
      }
    }
  }

  #takeIds(stretch: IdStretch | undefined): void {
    const wanting = this.#wanting
    this.#wanting = undefined
    if (stretch) wanting?.resolve(stretch)
    else wanting?.reject(new StoreUnavailableError('no ids could be reserved'))
  }

  /** Never rejects: the engine responds to every request. If the engine cannot be opened, the process exits. */
  async #run(request: QueryRequest): Promise<void> {
    const { engine, isSpent, takeLack } = await (this.#engine as Promise<LaneEngine>)
    const response = await (request.isExplanation ? engine.explain(request) : engine.query(request))
    const { attempt, body } = response
    const lacked = takeLack()
    if (isSpent()) this.#send({ kind: 'spent', lacked })
    if (attempt === undefined) {
      const text = bodyText(body, request.prettyBody === true)
      return this.#send({ kind: 'response', response: { ...response, body: '' } }, Buffer.from(text))
    }
    this.#kept = { request, response: { ...response, attempt } }
    const { again: _again, attempt: _attempt, ...rest } = response
    const { changesSchema, commitTime, evaluationMicros, isStamped } = attempt
    const facts = { changesSchema, commitTime, evaluationMicros, isStamped }
    this.#send({ kind: 'kept', response: { ...rest, body: '' }, facts })
  }

  async #commit({ takesTurn, time: announced }: Extract<ToLane, { kind: 'commit' }>): Promise<void> {
    const { checkService: check, engine, store } = await (this.#engine as Promise<LaneEngine>)
    const { request, response } = this.#kept as Kept
    this.#kept = undefined
    let hasFailed = false
    const again = (transaction: Transaction) => {
      try {
        return response.again?.(transaction).body
      } catch (error) {
        hasFailed = true
        throw error
      }
    }
    try {
      const announcement = { time: announced, check }
      const outcome = await store.commit(response.attempt, announcement, takesTurn ? again : undefined)
      if (outcome === 'stale') return this.#send({ kind: 'stale' })
      const { result, time } = outcome
      const body = typeof result === 'string' ? result : response.body
      const completed = engine.completed(request, { ...response, body }, time)
      this.#send({ kind: 'committed', time }, Buffer.from(bodyText(completed, request.prettyBody === true)))
    } catch (error) {
      // If the query fails under the lock, the service evaluates it again outside the lock and reports that error.
      if (hasFailed) return this.#send({ kind: 'stale' })
      const outcome = error instanceof StoreUnavailableError ? error.outcome : 'not committed'
      const reason = error instanceof Error ? error.message : String(error)
      this.#send({ kind: 'refused', reason, outcome })
    }
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
 * Returns the body to send. Long bodies are pretty-printed here, if requested; the service does this for short ones.
 */
function bodyText(body: string, pretty: boolean): string {
  return pretty && body.length > limits.longBodyBytes ? prettyPrint(body) : body
}
