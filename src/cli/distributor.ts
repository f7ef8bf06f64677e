// Distributes the connections of a port to several processes in turn.
//
// `node:cluster` has two problems in Node 26: a connection that is being sent to a crashing worker stays open forever,
// and the port closes when all workers have crashed. The distributor closes such a connection, so that the client
// detects the crash, and keeps the port open, so that connections wait for a new worker.

import type { Worker } from 'node:cluster'
import { createServer, type Server, type Socket } from 'node:net'
import { connectionsMax } from '../base/system-process.ts'
import { type ListenAddress, listenOn, socketOptions } from '../server/http/listener.ts'

/** The message with which a connection is sent to a worker. */
export const handover = 'connection'

/** Reads nothing from the connections itself. */
export class Distributor {
  readonly #server: Server
  /** Server for a further port. */
  #other: Server | undefined
  /** Accepted connections for which no worker is free; nothing has been read from them. */
  readonly #waiting: Socket[] = []
  /** Workers that can receive a connection; the one that has waited longest comes first. */
  readonly #free: Worker[] = []
  /** Connections on their way to a worker. */
  readonly #inTransit = new Map<Worker, Socket>()
  /** Handles connections instead of the workers, if set. */
  #instead: ((connection: Socket) => void) | undefined

  constructor() {
    this.#server = this.#createServer()
  }

  #createServer(): Server {
    const server = createServer({ ...socketOptions, pauseOnConnect: true }, socket => {
      socket.on('error', () => socket.destroy())
      if (this.#instead !== undefined) {
        this.#instead(socket)
        return
      }
      this.#waiting.push(socket)
      this.#handOver()
    })
    server.maxConnections = connectionsMax()
    return server
  }

  /** Resolves with the port. Rejects when the address is not available. */
  listen(address: ListenAddress): Promise<number> {
    return listenOn(this.#server, address)
  }

  /** Accepts connections on a further port; resolves with the port. */
  listenAlso(address: ListenAddress): Promise<number> {
    this.#other = this.#createServer()
    return listenOn(this.#other, address)
  }

  /** Passes all connections, including the waiting ones, to `take` until a worker is free. */
  divert(take: (connection: Socket) => void): void {
    this.#instead = take
    for (const socket of this.#waiting.splice(0)) take(socket)
  }

  /**
   * Marks a worker as ready for one connection. A worker reports that it is ready when it starts to serve, and again
   * after each connection it has received. A busy worker reports later, so that connections go to other workers.
   */
  free(worker: Worker): void {
    // A report may arrive after the exit of its worker.
    if (worker.isDead()) return
    this.#instead = undefined
    this.#letGo(worker)
    this.#free.push(worker)
    this.#handOver()
  }

  withdraw(worker: Worker): void {
    this.#letGo(worker)
    const at = this.#free.indexOf(worker)
    if (at >= 0) this.#free.splice(at, 1)
  }

  /** Stops accepting, and closes the connections that wait for a worker. */
  close(): void {
    this.#server.close()
    this.#other?.close()
    for (const socket of this.#waiting.splice(0)) socket.destroy()
  }

  #handOver(): void {
    while (this.#waiting.length > 0 && this.#free.length > 0) {
      const worker = this.#free.shift() as Worker
      const socket = this.#waiting.shift() as Socket
      this.#inTransit.set(worker, socket)
      // Without `keepOpen`, this process would close the socket at once, and a crash of the worker would lose it.
      // Sending fails when the worker is exiting. Then `withdraw` closes the connection.
      worker.process.send(handover, socket, { keepOpen: true }, () => undefined)
    }
  }

  /**
   * Closes this process's copy of the socket that was sent to a worker. If the worker has exited, no other copy exists,
   * and the connection is closed.
   */
  #letGo(worker: Worker): void {
    this.#inTransit.get(worker)?.destroy()
    this.#inTransit.delete(worker)
  }
}
