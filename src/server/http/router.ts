// Finds the endpoint of a path. Paths without parameters are compared as sent, percent-escapes and all: that is how
// the protocol dispatches. Patterns are matched by find-my-way, the router that Fastify is built on; methods are not
// its concern, because each endpoint says itself which it allows.

import findMyWay from 'find-my-way'
import type { Endpoint } from './endpoint.ts'
import { pathOf } from './url.ts'

/** An endpoint, and the values of the named parts of its path. */
interface Route {
  readonly endpoint: Endpoint
  readonly parameters: Readonly<Record<string, string>>
}

/** The parameters of an endpoint whose path has none. */
const noParameters: Readonly<Record<string, string>> = {}

/** All patterns are registered for one method, so that a match does not depend on the request's. */
const anyMethod = 'GET'

export class Router {
  readonly #fixed = new Map<string, Route>()
  readonly #patterns = findMyWay({ querystringParser: () => noParameters })
  readonly #fallback: Route

  /** `fallback` gets what no other endpoint's path matches. Throws when two endpoints have the same path. */
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

  /** The route of a request target. Parameters are decoded; a path with a malformed escape matches no pattern. */
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
