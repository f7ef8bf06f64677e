// Hands the connections of one port to several processes in turn.
//
// `node:cluster` would do the same, but with it a connection on its way to a worker that crashes stays open forever
// (Node 26), and the port closes when all workers have crashed. Here such a connection is closed, so that its client
// hears of it, and while there is no worker connections wait for the next one.

import type { Worker } from 'node:cluster'
import { createServer, type Server, type Socket } from 'node:net'
import { connectionsMax } from '../base/descriptors.ts'
import { type ListenAddress, listenOn, socketOptions } from '../server/http/listener.ts'

/** The message that goes with each connection that is handed over. */
export const handover = 'connection'

/** A worker that cannot be reached is ending: what it was given is closed with that. */
const ignoreFailure = () => undefined

/** Owns a port and gives its connections to workers. The workers serve them; nothing is read here. */
export class Distributor {
  readonly #server: Server
  /** Accepted, and not given to a worker yet; nothing of them has been read. */
  readonly #waiting: Socket[] = []
  /** Workers that can be given a connection, the one that has waited longest first. */
  readonly #free: Worker[] = []
  /** What a worker has been given and not taken yet. */
  readonly #given = new Map<Worker, Socket>()
  /** Takes connections in place of the workers. */
  #instead: ((connection: Socket) => void) | undefined

  constructor() {
    this.#server = createServer({ ...socketOptions, pauseOnConnect: true }, socket => {
      socket.on('error', () => socket.destroy())
      if (this.#instead !== undefined) {
        this.#instead(socket)
        return
      }
      this.#waiting.push(socket)
      this.#handOver()
    })
    this.#server.maxConnections = connectionsMax()
  }

  /** Starts to accept connections; resolves with the port. Rejects when the address is not available. */
  listen(address: ListenAddress): Promise<number> {
    return listenOn(this.#server, address)
  }

  /** Until a worker can be given a connection, `take` gets all, also those that wait. */
  divert(take: (connection: Socket) => void): void {
    this.#instead = take
    for (const socket of this.#waiting.splice(0)) take(socket)
  }

  /**
   * Says that a worker can be given one connection. A worker says so when it serves, and again when it has taken one:
   * as long as it is busy, connections go to the others.
   */
  free(worker: Worker): void {
    this.#instead = undefined
    this.#letGo(worker)
    this.#free.push(worker)
    this.#handOver()
  }

  /** Gives a worker nothing more. */
  withdraw(worker: Worker): void {
    this.#letGo(worker)
    const at = this.#free.indexOf(worker)
    if (at >= 0) this.#free.splice(at, 1)
  }

  /** Accepts no more, and closes the connections that no worker has been given. */
  close(): void {
    this.#server.close()
    for (const socket of this.#waiting.splice(0)) socket.destroy()
  }

  #handOver(): void {
    while (this.#waiting.length > 0 && this.#free.length > 0) {
      const worker = this.#free.shift() as Worker
      const socket = this.#waiting.shift() as Socket
      this.#given.set(worker, socket)
      // Kept open here until the worker has it: what Node closes by itself, it forgets when the worker crashes.
      worker.process.send(handover, socket, { keepOpen: true }, ignoreFailure)
    }
  }

  /** Closes this process's share of the connection that a worker was given: all of it, if the worker is gone. */
  #letGo(worker: Worker): void {
    this.#given.get(worker)?.destroy()
    this.#given.delete(worker)
  }
}
