// Endpoints that hand a call to the engine: queries of each language (`POST` evaluates the body, `GET` the parameter `q` and
// may not write; version 4 has them at `/`), and what else is asked with a query or of a credential.

import type { Endpoint, Handler, Services } from '../endpoint.ts'
import type { Protocol } from '../protocol.ts'
import { queryParameter } from '../url.ts'

const inGetRequests = { readOnly: 'get requests' } as const
const throughTheLog = { linearized: true } as const

/** The traits of what evaluates a query. */
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

/** What is asked beside plain queries. */
export function engineEndpoints({ engine }: Services): readonly Endpoint[] {
  const post = (path: string, POST: Handler): Endpoint => ({ ...queryTraits, path, methods: { POST } })
  const get = (path: string, GET: Handler): Endpoint => ({ path, authenticated: true, methods: { GET } })
  return [
    // A query whose reads are strictly serializable even when it writes nothing.
    post('/linearized', call => engine.query(call.queryRequest(call.body, throughTheLog))),
    // Why a query is allowed or denied what it does, when another caller asks it.
    post('/api/v1/explain', call => engine.explain(call.queryRequest(call.body))),
    // How many entries an index has, and what it takes of the store.
    post('/api/v1/indexes/_size', call => engine.indexSize(call.queryRequest(call.body))),
    // How many documents a collection has, and what they take.
    post('/api/v1/collections/_size', call => engine.collectionSize(call.queryRequest(call.body))),
    // Which account and database the secret belongs to.
    get('/authorized', call => engine.authorized(call.queryRequest(undefined))),
    // The caller's own token document. The one route kept of the REST interface that came before the query language; clients
    // use it to find out whether a session is still alive.
    get('/tokens/self', call => engine.ownToken(call.queryRequest(undefined))),
  ]
}
