// Sends responses as fast as their clients read. The unread bytes of all clients have a common limit
// (memory-budget.ts), beyond which clients with many unread bytes are disconnected.

import type { Readable, Writable } from 'node:stream'
import type { MemoryBudget, Share } from '../../base/admission/memory-budget.ts'
import { limits } from '../../base/limits.ts'
import type { Answer } from './answer.ts'
import type { EndpointCall } from './endpoint.ts'
import { EventWriter, type EventWriterServices } from './event-writer.ts'
import type { Exchange, HeaderList, Outlet } from './exchange.ts'
import { prepareResponse, type ResponseContext } from './response-headers.ts'
import { TurnEnd } from './turn-end.ts'

/** Bytes of a body that are written at a time. Shorter bodies are sent as a whole. */
const pieceBytes = limits.longBodyBytes

export class ResponseWriter {
  readonly #context: ResponseContext
  readonly #services: EventWriterServices

  /** `budget`: the bytes of unread responses. */
  constructor(
    context: ResponseContext,
    budget: MemoryBudget,
    { meter, timers }: Pick<EventWriterServices, 'meter' | 'timers'>,
  ) {
    this.#context = context
    const written = new TurnEnd<() => void>(counts => {
      for (const count of counts) count()
    })
    this.#services = { budget, written, timers, meter }
  }

  /**
   * Sends `answer` and ends the response. Returns the number of bytes of the body; 0 for a stream, and for a client
   * that has disconnected. If the stream of a body fails, the connection is closed without a complete response.
   */
  write(call: EndpointCall, answer: Answer): number {
    const { request } = call
    if (request.hasDisconnected) {
      discardBody(answer)
      return 0
    }
    const { headers, text, bytes } = prepareResponse(call, answer, this.#context)
    if (text === undefined) this.#writeStream(request, answer, headers)
    else if (bytes <= pieceBytes || request.method === 'HEAD') {
      const unsent = request.respond(answer.status, headers, text, bytes)
      if (unsent > 0) this.#services.written.add(() => this.#countUnsent(request, unsent))
    } else {
      // Encoded into buffers outside the JavaScript heap, because the heap is smaller than the memory of the machine.
      const pieces =
        answer.longBody?.pieces ?? piecesOf(Buffer.from(text, bytes === text.length ? 'latin1' : 'utf8'))
      const share = track(request, readerOf(request, answer), bytes, this.#services.budget)
      // The budget may have evicted the share, and thus disconnected the client.
      if (request.hasDisconnected) return 0
      writePieces(request.begin(answer.status, headers).body, pieces, share)
    }
    return bytes
  }

  /** Counts the unsent bytes of a response that was written whole. */
  #countUnsent(request: Exchange, bytes: number): void {
    if (!request.hasDisconnected) track(request, request.client, bytes, this.#services.budget)
  }

  #writeStream(request: Exchange, answer: Answer, headers: HeaderList): void {
    const { body, status, stream } = answer
    if (request.method === 'HEAD') {
      discardBody(answer)
      request.respond(status, headers, '', 0)
      return
    }
    const outlet = request.begin(status, headers)
    const reader = readerOf(request, answer)
    if (stream === undefined) this.#sendPieces(body as Readable, outlet, reader)
    else new EventWriter(stream, outlet, reader, this.#services)
  }

  #sendPieces(body: Readable, outlet: Outlet, reader: string): void {
    const target = outlet.body
    const abort = () => outlet.abort()
    let waiting: Share | undefined
    body.on('error', abort)
    target.on('close', () => {
      waiting?.close()
      body.destroy()
    })
    body.on('data', (piece: Buffer | string) => {
      body.pause()
      const share = this.#services.budget.open(reader, abort, piece.length)
      waiting = share
      target.write(piece, () => {
        share.close()
        body.resume()
      })
    })
    body.once('end', () => target.end())
  }
}

/** Counts `bytes` as unread bytes of `group`, until the exchange is closed. */
function track(request: Exchange, group: string, bytes: number, budget: MemoryBudget): Share {
  const share = budget.open(group, () => request.abort(), bytes)
  request.onClose(() => share.close())
  return share
}

/** Frees the resources of a body that will not be sent: an event stream, an open file. */
export function discardBody({ body, stream }: Answer): void {
  if (typeof body !== 'string') body.destroy()
  stream?.close()
}

/**
 * The group to which an unread long body or a stream is charged: the database of the query, or the client's address. A
 * short response is charged to the client's address.
 */
function readerOf(request: Exchange, { place }: Answer): string {
  return place === undefined ? request.client : `database ${place.ids.join('/')}`
}

function piecesOf(content: Buffer): Buffer[] {
  const count = Math.ceil(content.length / pieceBytes)
  return Array.from({ length: count }, (_, at) => content.subarray(at * pieceBytes, (at + 1) * pieceBytes))
}

/** Writes each piece after the previous one has been flushed. */
function writePieces(target: Writable, pieces: readonly Uint8Array[], share: Share): void {
  // Reversed, so that `pop` returns the next piece.
  const rest = pieces.toReversed()
  const write = () => {
    if (target.destroyed) return
    const piece = rest.pop() as Uint8Array
    share.move(piece.length)
    if (rest.length > 0) target.write(piece, write)
    else target.end(piece)
  }
  write()
}
