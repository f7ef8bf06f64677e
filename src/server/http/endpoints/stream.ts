// `POST /stream`, and `POST /stream/1` of version 10, open an event stream. The head is sent at once, then every event
// as it happens, until the client disconnects or an error event ends the stream.

import type { Engine } from '../../../engine/contract.ts'
import type { Answer } from '../answer.ts'
import type { Endpoint, EndpointCall, Handler, Services } from '../endpoint.ts'
import { queryParameter } from '../url.ts'
import { eventStreamProtocol } from '../version10-headers.ts'

const inStreamRequests = { readOnly: 'stream requests' } as const

const streamTraits = { authenticated: true, readsBody: true, recorded: true } as const

/** The endpoints of event streams. Open streams do not count as running requests; the engine limits their number. */
export function streamEndpoints({ engine, stopping }: Services): readonly Endpoint[] {
  if (stopping.aborted) engine.endStreams()
  else stopping.addEventListener('abort', () => engine.endStreams(), { once: true })
  const open4: Handler = call => opened(engine, call, queryParameter(call.request.url, 'fields'))
  const open10: Handler = call => opened(engine, call, undefined)
  const protocol = eventStreamProtocol
  return [
    { ...streamTraits, path: '/stream', methods: { POST: open4 } },
    { ...streamTraits, path: protocol.queryPath, protocol, methods: { POST: open10 }, otherMethods: open10 },
  ]
}

/** Opens a stream, or returns the error. */
async function opened(engine: Engine, call: EndpointCall, fields: string | undefined): Promise<Answer> {
  const answer = await engine.openStream(call.queryRequest(call.body, inStreamRequests), fields)
  if (answer.stream === undefined) return answer
  const headers = ['x-fauna-stream-id', answer.stream.id]
  // A stream closes its connection at the end, so that a shutdown need not wait for idle connections.
  if (call.request.version === 1) headers.push('connection', 'close')
  return { ...answer, headers }
}
