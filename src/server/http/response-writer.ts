// Sends responses as their clients read them. What a client has not read yet counts against a bound that all share
// (fair-budget.ts): who does not read is cut off, and the memory of the process does not depend on the readers.

import type { Readable, Writable } from 'node:stream'
import type { Answer } from './answer.ts'
import type { EndpointCall } from './endpoint.ts'
import { EventWriter, type EventWriting } from './event-writer.ts'
import type { Exchange, HeaderList, Outlet } from './exchange.ts'
import type { FairBudget, Share } from './fair-budget.ts'
import { prepareResponse, type ResponseContext } from './response-headers.ts'
import { Unread } from './unread.ts'

/** Bytes of a body that are handed to the system at a time; bodies up to this are sent whole. */
const pieceBytes = 65_536

/** What writing takes of the service. */
type WriterServices = Omit<EventWriting, 'unread'>

export class ResponseWriter {
  readonly #context: ResponseContext
  readonly #unread: Unread
  readonly #events: EventWriting

  /** `unread` bounds the bytes of responses that have not been read. */
  constructor(context: ResponseContext, unread: FairBudget, { meter, timers }: WriterServices) {
    this.#context = context
    this.#unread = new Unread(unread)
    this.#events = { unread: this.#unread, timers, meter }
  }

  /**
   * Sends `answer` and ends the response; returns the bytes of the body, 0 for a stream. The body of a stream that
   * fails half-way is cut off.
   */
  write(call: EndpointCall, answer: Answer): number {
    const { request } = call
    if (request.isGone) {
      discardBody(answer)
      return 0
    }
    const { headers, text, bytes } = prepareResponse(call, answer, this.#context)
    if (text === undefined) this.#writeStream(request, answer, headers)
    else if (bytes <= pieceBytes || request.method === 'HEAD') {
      const unsent = request.respond(answer.status, headers, text, bytes)
      if (unsent > 0) this.#unread.add({ countUnsent: () => this.#countUnsent(request, unsent) })
    } else {
      // Outside the heap of JavaScript, which is smaller than the memory.
      const pieces =
        answer.longBody?.pieces ?? piecesOf(Buffer.from(text, bytes === text.length ? 'latin1' : 'utf8'))
      const share = track(request, readerOf(request, answer), bytes, this.#unread)
      if (request.isGone) return 0
      writePieces(request.begin(answer.status, headers).body, pieces, share)
    }
    return bytes
  }

  /** Counts what was handed over whole, for its client. */
  #countUnsent(request: Exchange, bytes: number): void {
    if (!request.isGone) track(request, request.client, bytes, this.#unread)
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
    if (stream === undefined) this.#pass(body as Readable, outlet, reader)
    else new EventWriter(stream, outlet, reader, this.#events)
  }

  /** Passes a stream on, one piece at a time. */
  #pass(body: Readable, outlet: Outlet, reader: string): void {
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
      const share = this.#unread.count(reader, piece.length, abort)
      waiting = share
      target.write(piece, () => {
        share.close()
        body.resume()
      })
    })
    body.once('end', () => target.end())
  }
}

/** Counts `bytes` as unread until the exchange is over, for a group of readers. */
function track(request: Exchange, group: string, bytes: number, unread: Unread): Share {
  const share = unread.count(group, bytes, () => request.abort())
  request.onClose(() => share.close())
  return share
}

/** Frees what a body that is not going to be sent holds: an event stream, an open file. */
export function discardBody({ body, stream }: Answer): void {
  if (typeof body !== 'string') body.destroy()
  stream?.close()
}

/** For whom an unread response counts: the database that was asked, or where the client comes from. */
function readerOf(request: Exchange, { place }: Answer): string {
  return place === undefined ? request.client : `database ${place.ids.join('/')}`
}

function piecesOf(content: Buffer): Buffer[] {
  const count = Math.ceil(content.length / pieceBytes)
  return Array.from({ length: count }, (_, at) => content.subarray(at * pieceBytes, (at + 1) * pieceBytes))
}

/** Writes a body piece by piece, each when the one before has been taken. */
function writePieces(target: Writable, pieces: readonly Uint8Array[], share: Share): void {
  // The next one last.
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
