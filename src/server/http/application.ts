// Connects the parts of the edge: the endpoints, the router that finds the endpoint of a path, and the listener.
//
// Endpoint paths without parameters are compared with the request's path, which is not decoded. Patterns (paths with
// parameters) are matched by find-my-way, the router of Fastify. Methods are ignored here, because each endpoint knows
// its own.

import findMyWay from 'find-my-way'
import { errorAnswer } from './answer.ts'
import { Edge, type EdgeOptions } from './edge.ts'
import type { Endpoint, Services } from './endpoint.ts'
import { isBrowserVisit, visitEndpoint } from './endpoints/dashboard.ts'
import { Listener, type ListenerOptions } from './listener.ts'
import { endpoints } from './routes.ts'
import { pathOf } from './url.ts'

/** The returned listener does not listen yet. */
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

/** A request for an unknown path needs no credential, so the response reveals nothing about credentials. */
function notFoundEndpoint({ engine }: Services): Endpoint {
  return {
    path: '*',
    methods: {},
    otherMethods: () => errorAnswer('not found', 'Not Found', engine.now()),
  }
}

interface Route {
  readonly endpoint: Endpoint
  readonly parameters: Readonly<Record<string, string>>
}

const noParameters: Readonly<Record<string, string>> = {}

/** Patterns are registered and looked up with this method, so that the request's method does not matter. */
const anyMethod = 'GET'

class Router {
  readonly #fixed = new Map<string, Route>()
  readonly #patterns = findMyWay({ querystringParser: () => noParameters })
  readonly #fallback: Route

  /** `fallback` handles all paths that no endpoint matches. Throws when two endpoints have the same path. */
  constructor(endpoints: readonly Endpoint[], fallback: Endpoint) {
    this.#fallback = { endpoint: fallback, parameters: noParameters }
    for (const endpoint of endpoints) {
      const { path } = endpoint
      if (path.includes(':') || path.includes('*')) {
        this.#patterns.on(anyMethod, path, () => undefined, endpoint)
      } else if (this.#fixed.has(path)) throw new Error(`two endpoints at ${path}`)
      else this.#fixed.set(path, { endpoint, parameters: noParameters })
    }
  }

  /** Decodes parameters. A path with an invalid escape matches no pattern. */
  find(target: string): Route {
    const fixed = this.#fixed.get(target)
    if (fixed !== undefined) return fixed
    const path = pathOf(target)
    return this.#fixed.get(path) ?? this.#match(path) ?? this.#fallback
  }

  #match(path: string): Route | undefined {
    const found = this.#patterns.find(anyMethod, path)
    if (found === null) return undefined
    return { endpoint: found.store as Endpoint, parameters: found.params as Record<string, string> }
  }
}
