// Queries: `POST` evaluates the body, `GET` the parameter `q` and may not write. Version 4 has them at `/`.

import type { Endpoint, Handler, Services } from '../endpoint.ts'
import type { Protocol } from '../protocol.ts'
import { queryParameter } from '../url.ts'

const inGetRequests = { readOnly: 'get requests' } as const

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
    path: protocol.queryPath,
    protocol,
    authenticated: true,
    readsBody: true,
    takesLongBodies: true,
    recorded: true,
    ...(protocol.takesAnyMethod && { otherMethods: handlers.POST }),
    methods: Object.fromEntries(protocol.queryMethods.map(method => [method, handlers[method]])),
  }
}
