// Puts the edge together: the endpoints, Fastify, which routes to them, and the listener.
//
// `/`, the path of all queries, goes to its endpoint without Fastify: routing one fixed path needs none of what
// Fastify does per request, and that is a tenth of the cost of a small query. Everything else that happens to a
// request happens in edge.ts, on both ways alike.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyReply, type FastifyRequest } from 'fastify'
import { noParameters } from './call.ts'
import { Edge, type EdgeOptions } from './edge.ts'
import type { Endpoint, Services } from './endpoint.ts'
import { notFoundEndpoint } from './endpoints/not-found.ts'
import { queryEndpoint } from './endpoints/query.ts'
import { type ListenAddress, Listener, type ListenerOptions } from './listener.ts'
import { endpoints } from './routes.ts'
import { pathOf } from './url.ts'

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void

export interface Application {
  /** Starts to accept connections; resolves with the port. Rejects when the address cannot be had. */
  listen(address: ListenAddress): Promise<number>
  /** Instead of `listen`: answers a function that serves a connection that another process has accepted. */
  receive(): (connection: Socket) => void
  /** Finishes what is in flight, for at most `graceMs` milliseconds, then closes everything. */
  close(graceMs: number): Promise<void>
}

/** Builds the HTTP service over an engine; nothing listens yet. */
export async function createApplication(
  services: Services,
  options: EdgeOptions & { readonly listener: ListenerOptions },
): Promise<Application> {
  const edge = new Edge(services, options)
  const query = queryEndpoint(services)
  let listener: Listener | undefined
  const fastify = Fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    frameworkErrors: (_error, request, reply) => handOver(notFound, request, reply),
    serverFactory: routed => {
      const handler = rootHandler(edge, query, routed as RequestHandler)
      listener = new Listener(handler, options.listener)
      return listener.server as never
    },
  })
  const notFound = notFoundEndpoint(services)
  const handOver = (endpoint: Endpoint, request: FastifyRequest, reply: FastifyReply) => {
    reply.hijack()
    const parameters = (request.params ?? noParameters) as Record<string, string>
    edge.serve(endpoint, request.raw, reply.raw, parameters)
  }
  const exact = new Map<string, Endpoint>()
  for (const endpoint of endpoints(services)) {
    const fixed = !endpoint.path.includes(':') && !endpoint.path.includes('*')
    if (fixed) exact.set(endpoint.path, endpoint)
    fastify.route({
      method: fastify.supportedMethods,
      url: endpoint.path,
      // Taken over before Fastify reads the body: the edge has its own rules for bodies and content types.
      onRequest: (request, reply, done) => {
        const asSent = !fixed || pathOf(request.raw.url as string) === endpoint.path
        handOver(asSent ? endpoint : notFound, request, reply)
        done()
      },
      handler: () => undefined,
    })
  }
  fastify.setNotFoundHandler({}, () => undefined)
  fastify.addHook('onRequest', (request, reply, done) => {
    if (!request.is404) return done()
    // Methods that Fastify does not route still belong to the endpoint of their path.
    handOver(exact.get(pathOf(request.raw.url as string)) ?? notFound, request, reply)
    done()
  })
  await fastify.ready()
  const listening = listener as Listener
  return {
    listen: address => listening.listen(address),
    receive: () => listening.receive(),
    close: async graceMs => {
      await listening.close(graceMs)
      await fastify.close()
    },
  }
}

function rootHandler(edge: Edge, query: Endpoint, routed: RequestHandler): RequestHandler {
  return (request, response) => {
    const target = request.url as string
    if (target === '/' || pathOf(target) === '/') edge.serve(query, request, response)
    else routed(request, response)
  }
}
