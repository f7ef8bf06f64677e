// A TCP proxy that a test puts between a node and its database, to cut, stall and lose what passes.

import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

export class FaultyProxy {
  readonly #server: Server
  #target: number
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  /** What is looked at before it is passed on to the target; true: the connection is cut behind it. */
  cutsBehind: (sent: Buffer) => boolean = () => false
  /** What is looked at before it is passed on to the target; true: it is lost, and the connection cut. */
  losesAndCuts: (sent: Buffer) => boolean = () => false
  /** What is looked at before it is passed on to the target; true: from then on nobody takes what the target answers. */
  stallsBehind: (sent: Buffer) => boolean = () => false
  /** What is looked at before it is passed on to the target; true: it is, and nothing more on that connection. */
  swallowsBehind: (sent: Buffer) => boolean = () => false
  /** While true, bytes are swallowed in both directions and connections stay open: a network that forgets. */
  #isBlackhole = false
  #refuses = false

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

  /** Cuts all connections; new ones are accepted again. */
  cut(): void {
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
  }

  /** Cuts all connections and refuses new ones until told otherwise. */
  refuse(refuses: boolean): void {
    this.#refuses = refuses
    if (refuses) this.cut()
  }

  /** Cuts all connections and leads new ones to another port. */
  redirect(port: number): void {
    this.#target = port
    this.cut()
  }

  blackhole(isBlackhole: boolean): void {
    this.#isBlackhole = isBlackhole
    // What was swallowed is missing: those connections are of no use any more.
    if (!isBlackhole) this.cut()
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #accept(client: Socket): void {
    if (this.#refuses) {
      client.destroy()
      return
    }
    const target = connect(this.#target, '127.0.0.1')
    const pair = [client, target] as const
    this.#pairs.add(pair)
    const end = () => {
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
      isSwallowing = this.swallowsBehind(sent)
      if (this.losesAndCuts(sent)) {
        end()
        return
      }
      const isLast = this.cutsBehind(sent)
      if (this.stallsBehind(sent)) target.pause()
      target.write(sent)
      if (isLast) {
        // The target gets what was sent, and finds out later than the client.
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
