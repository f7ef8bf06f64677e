// A TCP proxy between a node and its database, with which tests cut connections, stall them and discard data. The
// functions get data for the target.

import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

export class FaultyProxy {
  readonly #server: Server
  #target: number
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  /** If true, the proxy forwards the data, then cuts the connection. */
  cutsAfter: (sent: Buffer) => boolean = () => false
  /** If true, the proxy discards the data and cuts the connection. */
  losesAndCuts: (sent: Buffer) => boolean = () => false
  /**
   * If true, the proxy forwards the data, and stops reading responses of the target. The connection to the target stays
   * open after the client has closed its own.
   */
  stallsAfter: (sent: Buffer) => boolean = () => false
  /**
   * If true, the proxy forwards the data, and discards later data of this connection. The connection to the target
   * stays open after the client has closed its own.
   */
  swallowsAfter: (sent: Buffer) => boolean = () => false
  /** Discards data in both directions and keeps connections open, like a network that drops packets. */
  #isBlackhole = false
  #rejects = false

  private constructor(target: number) {
    this.#target = target
    this.#server = createServer(socket => this.#accept(socket))
  }

  static async to(port: number): Promise<FaultyProxy> {
    const proxy = new FaultyProxy(port)
    proxy.#server.listen(0, '127.0.0.1')
    await once(proxy.#server, 'listening')
    return proxy
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  /** Accepts new connections. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
  }

  /** Cuts all connections, and rejects new ones until a call with `false`. */
  reject(rejects: boolean): void {
    this.#rejects = rejects
    if (rejects) this.cut()
  }

  /** Cuts all connections, and forwards new ones to another port. */
  redirect(port: number): void {
    this.#target = port
    this.cut()
  }

  blackhole(isBlackhole: boolean): void {
    this.#isBlackhole = isBlackhole
    // The open connections have lost bytes, so they cannot be used any more.
    if (!isBlackhole) this.cut()
  }

  async close(): Promise<void> {
    this.cut()
    if (!this.#server.listening) return
    this.#server.close()
    await once(this.#server, 'close')
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  #accept(client: Socket): void {
    if (this.#rejects) {
      client.destroy()
      return
    }
    const target = connect(this.#target, '127.0.0.1')
    const pair = [client, target] as const
    this.#pairs.add(pair)
    let isStuck = false
    const end = () => {
      // Only the target ends the connection of a client that is stuck.
      if (isStuck && !target.destroyed) return
      this.#pairs.delete(pair)
      for (const socket of pair) socket.destroy()
    }
    for (const socket of pair) {
      socket.on('error', end)
      socket.on('close', end)
    }
    let isSwallowing = false
    client.on('data', (sent: Buffer) => {
      if (this.#isBlackhole || isSwallowing) return
      isSwallowing = this.swallowsAfter(sent)
      isStuck ||= isSwallowing
      if (this.losesAndCuts(sent)) {
        end()
        return
      }
      const isLast = this.cutsAfter(sent)
      if (this.stallsAfter(sent)) {
        isStuck = true
        target.pause()
      }
      target.write(sent)
      if (isLast) {
        // The target receives the forwarded data, and notices the cut later than the client.
        client.removeListener('close', end)
        client.destroy()
        target.end()
      }
    })
    target.on('data', received => {
      if (!this.#isBlackhole && !client.destroyed) client.write(received)
    })
  }
}
