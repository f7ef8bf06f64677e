// Endpoints that pass a call to the engine. Each language has an endpoint for queries: `POST` evaluates the body, `GET`
// evaluates the parameter `q` and may not write. Other endpoints explain a query, measure indexes and collections, or
// check a credential.

import type { Endpoint, Handler, Services } from '../endpoint.ts'
import type { Protocol } from '../protocol.ts'
import { queryParameter } from '../url.ts'

const inGetRequests = { readOnly: 'get requests' } as const
const throughTheLog = { linearized: true } as const

/** The traits of endpoints that evaluate a query. */
const queryTraits = { authenticated: true, readsBody: true, takesLongBodies: true, recorded: true } as const

/** The query endpoint of a language. Its POST is the hot path of the service. */
export function queryEndpoint({ engine }: Services, protocol: Protocol): Endpoint {
  const handlers: Readonly<Record<'GET' | 'POST', Handler>> = {
    GET: call => {
      const query = queryParameter(call.request.url, 'q')
      call.body = query === '' ? undefined : query
      return engine.query(call.queryRequest(call.body, inGetRequests))
    },
    POST: call => engine.query(call.queryRequest(call.body)),
  }
  return {
    ...queryTraits,
    path: protocol.queryPath,
    protocol,
    ...(protocol.takesAnyMethod && { otherMethods: handlers.POST }),
    methods: Object.fromEntries(protocol.queryMethods.map(method => [method, handlers[method]])),
  }
}

/** The engine's endpoints besides plain queries. */
export function engineEndpoints({ engine }: Services): readonly Endpoint[] {
  const post = (path: string, POST: Handler): Endpoint => ({ ...queryTraits, path, methods: { POST } })
  const get = (path: string, GET: Handler): Endpoint => ({ path, authenticated: true, methods: { GET } })
  return [
    // Queries whose reads are strictly serializable even if they write nothing.
    post('/linearized', call => engine.query(call.queryRequest(call.body, throughTheLog))),
    // Evaluates a query as another caller and describes the permission checks.
    post('/api/v1/explain', call => engine.explain(call.queryRequest(call.body))),
    // The number of an index's entries, and their size in the store.
    post('/api/v1/indexes/_size', call => engine.indexSize(call.queryRequest(call.body))),
    // The number of a collection's documents, and their size.
    post('/api/v1/collections/_size', call => engine.collectionSize(call.queryRequest(call.body))),
    // The account and the database of the secret.
    get('/authorized', call => engine.authorized(call.queryRequest(undefined))),
    // The caller's own token document: the only remaining route of the REST interface before FQL. Clients use it to
    // check whether a session is still valid.
    get('/tokens/self', call => engine.ownToken(call.queryRequest(undefined))),
  ]
}
