// Endpoints that pass a call to the engine. Each language has an endpoint for queries: `POST` evaluates the body; in
// version 4, `GET` evaluates the parameter `q` and may not write. `POST /stream` (version 4) and `/stream/1` (version
// 10) open an event stream, whose head is sent immediately, then every event as it happens. Other endpoints explain a
// query, measure indexes and collections, check a credential, or return its identity.

import type { Engine, Principal } from '../../../engine/engine-contract.ts'
import type { Answer } from '../answer.ts'
import { apiEndpoint } from '../api.ts'
import type { Endpoint, EndpointCall, Handler, Services } from '../endpoint.ts'
import type { Protocol } from '../protocol.ts'
import { queryParameter } from '../url.ts'
import { checkProtocol, eventStreamProtocol } from '../version10-headers.ts'

const inGetRequests = { readOnlyPlace: 'get requests' } as const
const asLinearized = { linearized: true } as const

const queryTraits = { authenticated: true, readsBody: true, takesLongBodies: true, recorded: true } as const

/** The query endpoint of a language. Its POST is the hot path of the service. */
export function queryEndpoint({ engine }: Services, protocol: Protocol): Endpoint {
  const handlers: Readonly<Record<'GET' | 'POST', Handler>> = {
    GET: call => {
      const query = queryParameter(call.request.url, 'q')
      call.body = query === '' ? undefined : query
      return engine.query(call.queryRequest(call.body, inGetRequests), call.ticket)
    },
    POST: call => engine.query(call.queryRequest(call.body), call.ticket),
  }
  return {
    ...queryTraits,
    path: protocol.queryPath,
    protocol,
    ...(protocol.takesAnyMethod && { otherMethods: handlers.POST }),
    methods: Object.fromEntries(protocol.queryMethods.map(method => [method, handlers[method]])),
  }
}

export function engineEndpoints({ engine }: Services): readonly Endpoint[] {
  const post = (path: string, POST: Handler): Endpoint => ({ ...queryTraits, path, methods: { POST } })
  const get = (path: string, GET: Handler): Endpoint => ({ path, authenticated: true, methods: { GET } })
  const run =
    (
      task:
        | 'query'
        | 'explain'
        | 'indexSize'
        | 'collectionSize'
        | 'collectionPosition'
        | 'authorized'
        | 'ownToken',
    ): Handler =>
    call =>
      engine[task](call.queryRequest(call.body), call.ticket)
  return [
    // Strictly serializable reads, even for a query that writes nothing.
    post('/linearized', call => engine.query(call.queryRequest(call.body, asLinearized), call.ticket)),
    // Describes the reads of a query, or its permission checks if it runs as another caller.
    post('/api/v1/explain', run('explain')),
    // Checks the types of a query of version 10, which is not evaluated.
    { ...post('/api/v1/check', run('query')), protocol: checkProtocol },
    // Number of an index's entries, and their size in the store.
    post('/api/v1/indexes/_size', run('indexSize')),
    // Number of a collection's documents, and their size.
    post('/api/v1/collections/_size', run('collectionSize')),
    // Estimated share of a collection's documents before an id.
    post('/api/v1/collections/_position', run('collectionPosition')),
    // Account and database of the secret.
    get('/authorized', run('authorized')),
    // Token document of the caller: the only remaining route of an older REST interface, with which clients check
    // whether a session is still valid.
    get('/tokens/self', run('ownToken')),
  ]
}

const inStreamRequests = { readOnlyPlace: 'stream requests' } as const

const streamTraits = { authenticated: true, readsBody: true, recorded: true } as const

/** Open streams do not count as running requests: the engine limits them. */
export function streamEndpoints({ engine, stopping }: Services): readonly Endpoint[] {
  if (stopping.aborted) engine.endStreams()
  else stopping.addEventListener('abort', () => engine.endStreams(), { once: true })
  const open4: Handler = call => openStream(engine, call, queryParameter(call.request.url, 'fields'))
  const open10: Handler = call => openStream(engine, call, undefined)
  const protocol = eventStreamProtocol
  return [
    { ...streamTraits, path: '/stream', methods: { POST: open4 } },
    { ...streamTraits, path: protocol.queryPath, protocol, methods: { POST: open10 }, otherMethods: open10 },
  ]
}

async function openStream(engine: Engine, call: EndpointCall, fields: string | undefined): Promise<Answer> {
  const answer = await engine.openStream(call.queryRequest(call.body, inStreamRequests), fields, call.ticket)
  if (answer.stream === undefined) return answer
  const headers = ['x-fauna-stream-id', answer.stream.id]
  // Closing the connection at the end spares a shutdown the wait for idle connections.
  if (call.request.version === 1) headers.push('connection', 'close')
  return { ...answer, headers }
}

/**
 * `GET /api/v1/principal` returns the identity and the rights of the presented secret. Programs such as the dashboard
 * use it to find out which data they may show.
 */
export function principalEndpoint(services: Services): Endpoint {
  return apiEndpoint(services, {
    path: '/api/v1/principal',
    access: 'any secret',
    methods: { GET: (_call, principal) => describe(principal, services) },
  })
}

function describe({ place, role, isRoot, identity }: Principal, { queryLog }: Services): object {
  return {
    database: place.names,
    role: role ?? null,
    is_root: isRoot,
    identity: identity ?? null,
    region_group: queryLog?.regionGroup ?? null,
  }
}
