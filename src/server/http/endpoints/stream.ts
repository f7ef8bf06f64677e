// `POST /stream`, and `POST /stream/1` of version 10, open an event stream: the head at once, then every event as it comes, until the client hangs up
// or an error event has ended it.

import type { Engine } from '../../../engine/contract.ts'
import type { Answer } from '../answer.ts'
import type { Endpoint, EndpointCall, Handler, Services } from '../endpoint.ts'
import { queryParameter } from '../url.ts'
import { eventStreamProtocol } from '../version10-headers.ts'

const inStreamRequests = { readOnly: 'stream requests' } as const

const streamTraits = { authenticated: true, readsBody: true, recorded: true } as const

/** The endpoints of event streams. Open ones do not count as requests under way; the engine limits their number. */
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

/** Opens a stream, or tells why there is none. */
async function opened(engine: Engine, call: EndpointCall, fields: string | undefined): Promise<Answer> {
  const answer = await engine.openStream(call.queryRequest(call.body, inStreamRequests), fields)
  if (answer.stream === undefined) return answer
  const headers = ['x-fauna-stream-id', answer.stream.id]
  // A stream that ends takes its connection with it, so that stopping need not wait for idle ones.
  if (call.request.version === 1) headers.push('connection', 'close')
  return { ...answer, headers }
}
