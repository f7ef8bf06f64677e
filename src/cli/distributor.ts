// Distributes the connections of a port to several processes in turn.
//
// `node:cluster` could do this, but has two problems in Node 26. A connection that is being sent to a crashing worker
// stays open forever, and the port closes when all workers have crashed. The distributor closes such a connection, so
// that the client detects the crash. It keeps the port open, so that connections wait for a new worker.

import type { Worker } from 'node:cluster'
import { createServer, type Server, type Socket } from 'node:net'
import { connectionsMax } from '../base/system-process.ts'
import { type ListenAddress, listenOn, socketOptions } from '../server/http/listener.ts'

/** The message that accompanies each connection. */
export const handover = 'connection'

/**
 * Ignores a failed send. A failed send means that the worker is exiting. {@link Distributor.withdraw} closes the
 * connection.
 */
const ignoreFailure = () => undefined

/** Owns a port and passes its connections to workers. Reads nothing from the connections itself. */
export class Distributor {
  readonly #server: Server
  /** The server of a further port. */
  #other: Server | undefined
  /** Accepted connections for which no worker is free; nothing has been read from them. */
  readonly #waiting: Socket[] = []
  /** Workers that can receive a connection; the worker that has waited longest comes first. */
  readonly #free: Worker[] = []
  /** Connections that this process has sent to a worker but that the worker has not yet received. */
  readonly #inTransit = new Map<Worker, Socket>()
  /** If set, this function handles connections instead of the workers. */
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

  /** Starts to accept connections; resolves with the port. Rejects when the address is not available. */
  listen(address: ListenAddress): Promise<number> {
    return listenOn(this.#server, address)
  }

  /** Accepts connections on a further port, too; resolves with the port. */
  listenAlso(address: ListenAddress): Promise<number> {
    this.#other = this.#createServer()
    return listenOn(this.#other, address)
  }

  /** Passes all connections, including the waiting connections, to `take` until a worker is free. */
  divert(take: (connection: Socket) => void): void {
    this.#instead = take
    for (const socket of this.#waiting.splice(0)) take(socket)
  }

  /**
   * Marks a worker as ready for one connection. A worker reports that it is ready when it starts to serve, and again
   * after each connection it has received. A busy worker reports later, so that connections go to other workers.
   */
  free(worker: Worker): void {
    this.#instead = undefined
    this.#letGo(worker)
    this.#free.push(worker)
    this.#handOver()
  }

  /** Sends no more connections to a worker. */
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
      // `keepOpen`: the socket stays open in this process until the worker has received it. Without `keepOpen`, Node
      // would lose the socket if the worker crashes.
      worker.process.send(handover, socket, { keepOpen: true }, ignoreFailure)
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
