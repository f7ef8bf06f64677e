// Puts the edge together: the endpoints, the router that finds them, and the listener.

import { Edge, type EdgeOptions } from './edge.ts'
import type { Services } from './endpoint.ts'
import { isBrowserVisit, visitEndpoint } from './endpoints/dashboard.ts'
import { notFoundEndpoint } from './endpoints/not-found.ts'
import { Listener, type ListenerOptions } from './listener.ts'
import { Router } from './router.ts'
import { endpoints } from './routes.ts'

/** Builds the HTTP service over an engine; nothing listens yet. */
export function createApplication(
  services: Services,
  options: EdgeOptions & { readonly listener: ListenerOptions },
): Listener {
  const edge = new Edge(services, options)
  const router = new Router(endpoints(services), notFoundEndpoint(services))
  const hasDashboard = services.dashboard !== undefined
  return new Listener(exchange => {
    if (hasDashboard && isBrowserVisit(exchange)) {
      edge.serve(visitEndpoint, exchange, {})
      return
    }
    const { endpoint, parameters } = router.find(exchange.url)
    edge.serve(endpoint, exchange, parameters)
  }, options.listener)
}
