// `POST /stream`, and `POST /stream/1` of version 10, open an event stream: the head at once, then every event as it comes, until the client hangs up
// or an error event has ended it.

import { Readable } from 'node:stream'
import type { Timers } from '../../base/timers.ts'
import type { EventStream } from '../../engine/contract.ts'
import { limits } from '../../limits.ts'
import type { Answer } from '../answer.ts'
import type { EndpointCall } from '../call.ts'
import type { Endpoint, Handler, Services } from '../endpoint.ts'
import { queryParameter } from '../url.ts'
import { eventStreamProtocol } from '../version10-headers.ts'

const inStreamRequests = { readOnly: 'stream requests' } as const

/** The endpoint of event streams. They do not count as requests under way; the engine limits their number. */
export function streamEndpoint(services: Services): Endpoint {
  const { engine, stopping } = services
  if (stopping.aborted) engine.endStreams()
  else stopping.addEventListener('abort', () => engine.endStreams(), { once: true })
  return {
    path: '/stream',
    authenticated: true,
    readsBody: true,
    recorded: true,
    methods: {
      async POST(call): Promise<Answer> {
        const fields = queryParameter(call.request.url, 'fields')
        const opened = engine.openStream(call.queryRequest(call.body, inStreamRequests), fields)
        const { stream, ...answer } = await opened
        return stream === undefined ? answer : streamed(answer, stream, call, services)
      },
    },
  }
}

/** The endpoint of the streams of version 10. */
export function eventStreamEndpoint(services: Services): Endpoint {
  const { engine } = services
  const open: Handler = async call => {
    const { stream, ...answer } = await engine.openStream(
      call.queryRequest(call.body, inStreamRequests),
      undefined,
    )
    return stream === undefined ? answer : streamed(answer, stream, call, services)
  }
  return {
    path: eventStreamProtocol.queryPath,
    protocol: eventStreamProtocol,
    authenticated: true,
    readsBody: true,
    recorded: true,
    methods: { POST: open },
    otherMethods: open,
  }
}

function streamed(
  answer: Answer,
  stream: EventStream,
  call: EndpointCall,
  { meter, timers }: Services,
): Answer {
  const body = new EventBody(stream, timers)
  if (meter) {
    meter.streams++
    body.once('close', () => meter.streams--)
  }
  const headers = ['x-fauna-stream-id', stream.id]
  // A stream that ends takes its connection with it, so that stopping need not wait for idle ones.
  if (call.request.version === 1) headers.push('connection', 'close')
  return { ...answer, body, headers }
}

/** Events as a response body, each a piece of its own, when the connection has room. */
class EventBody extends Readable {
  readonly #stream: EventStream
  readonly #timers: Timers
  #hasRoom = false
  #cancelCut: (() => void) | undefined

  constructor(stream: EventStream, timers: Timers) {
    super({ highWaterMark: 1 })
    this.#stream = stream
    this.#timers = timers
    stream.listen(() => this.#pass())
  }

  override _read(): void {
    this.#hasRoom = true
    this.#pass()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#cancelCut?.()
    this.#stream.close()
    done(error)
  }

  #pass(): void {
    if (this.#stream.ended) this.#limitEnd()
    if (!this.#hasRoom) return
    const line = this.#stream.take()
    if (line === undefined) {
      if (this.#stream.ended) this.push(null)
      return
    }
    this.#hasRoom = false
    this.push(line)
  }

  /** A client that does not take the last events is cut off. */
  #limitEnd(): void {
    this.#cancelCut ??= this.#timers.after(limits.streamEndMs, () => {
      this.destroy(new Error('the client has not taken the end of its stream'))
    })
  }
}
