// Puts the edge together: the endpoints, the router that finds them, and the listener.

import type { Socket } from 'node:net'
import { Edge, type EdgeOptions } from './edge.ts'
import type { Services } from './endpoint.ts'
import { isBrowserVisit, visitEndpoint } from './endpoints/dashboard.ts'
import { notFoundEndpoint } from './endpoints/not-found.ts'
import { type ListenAddress, Listener, type ListenerOptions } from './listener.ts'
import { Router } from './router.ts'
import { endpoints } from './routes.ts'

export interface Application {
  /** Starts to accept connections; resolves with the port. Rejects when the address is not available. */
  listen(address: ListenAddress): Promise<number>
  /** Instead of `listen`: returns a function that serves a connection that another process has accepted. */
  receive(): (connection: Socket) => void
  /** Finishes what is in flight, for at most `graceMs` milliseconds, then closes everything. */
  close(graceMs: number): Promise<void>
}

/** Builds the HTTP service over an engine; nothing listens yet. */
export function createApplication(
  services: Services,
  options: EdgeOptions & { readonly listener: ListenerOptions },
): Application {
  const edge = new Edge(services, options)
  const router = new Router(endpoints(services), notFoundEndpoint(services))
  const hasDashboard = services.dashboard !== undefined
  const listener = new Listener(exchange => {
    if (hasDashboard && isBrowserVisit(exchange)) {
      edge.serve(visitEndpoint, exchange, {})
      return
    }
    const { endpoint, parameters } = router.find(exchange.url)
    edge.serve(endpoint, exchange, parameters)
  }, options.listener)
  return {
    listen: address => listener.listen(address),
    receive: () => listener.receive(),
    close: graceMs => listener.close(graceMs),
  }
}
