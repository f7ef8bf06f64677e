// The other end: in a process of the slow lane, evaluates one job after the other on an engine of its own.

import type { Duplex } from 'node:stream'
import type { Engine, QueryRequest, QueryResponse } from '../engine/contract.ts'
import { limits } from '../limits.ts'
import { StoreUnavailableError } from '../store/contract.ts'
import type { IdStretch } from '../store/ids.ts'
import type { Micros } from '../values/value.ts'
import { prettyPrint } from '../values/wire-pretty.ts'
import { receiveFrames, sendFrame } from './frames.ts'
import type { FromLane, ToLane } from './messages.ts'

/** One process's side of the slow lane. */
export class LaneService<Setup> {
  readonly #socket: Duplex
  readonly #open: (setup: Setup) => Promise<Engine>
  #engine: Promise<Engine> | undefined
  #snapshotTime: Micros = 0
  #wanting: { resolve: (stretch: IdStretch) => void; reject: (error: Error) => void } | undefined

  /** `open` makes the engine, as the service has set this process up. */
  constructor(socket: Duplex, open: (setup: Setup) => Promise<Engine>) {
    this.#socket = socket
    this.#open = open
    receiveFrames(socket, ({ head, body }) => this.#receive(head as ToLane<Setup>, body))
  }

  /** The newest time that the service has read at: no later commit has a time up to it. */
  get snapshotTime(): Micros {
    return this.#snapshotTime
  }

  /** Asks the service for ids. */
  reserveIds(): Promise<IdStretch> {
    return new Promise((resolve, reject) => {
      this.#wanting = { resolve, reject }
      this.#send({ kind: 'ids wanted' })
    })
  }

  #receive(message: ToLane<Setup>, body: readonly Uint8Array[]): void {
    switch (message.kind) {
      case 'setup':
        this.#engine = this.#open(message.setup)
        // One that cannot be opened ends the process.
        void this.#engine.then(() => this.#send({ kind: 'ready' }))
        return
      case 'ids':
        this.#takeIds(message.stretch)
        return
      case 'job': {
        this.#snapshotTime = Math.max(this.#snapshotTime, message.snapshotTime)
        const text = message.hasBody ? Buffer.concat(body).toString() : undefined
        void this.#run({ ...message.request, body: text })
      }
    }
  }

  #takeIds(stretch: IdStretch | undefined): void {
    const wanting = this.#wanting
    this.#wanting = undefined
    if (stretch) wanting?.resolve(stretch)
    else wanting?.reject(new StoreUnavailableError('no ids could be reserved'))
  }

  /** Never fails: an engine has a response to everything; one that cannot be opened ends the process. */
  async #run(request: QueryRequest): Promise<void> {
    const engine = await (this.#engine as Promise<Engine>)
    const response = await engine.query(request)
    this.#respond(response, request.prettyBody === true && !response.attempt)
  }

  #respond(response: QueryResponse, pretty: boolean): void {
    const isLong = response.body.length > limits.longBodyBytes
    const text = isLong && pretty ? prettyPrint(response.body) : response.body
    this.#send({ kind: 'response', response: { ...response, body: '' } }, Buffer.from(text))
  }

  #send(message: FromLane, body?: Uint8Array): void {
    sendFrame(this.#socket, message, body)
  }
}
