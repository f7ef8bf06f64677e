// Sends responses as their clients read them. What a client has not read yet counts against a bound that all share
// (fair-budget.ts): who does not read is cut off, and the memory of the process does not depend on the readers.

import type { Readable, Writable } from 'node:stream'
import type { Answer } from './answer.ts'
import type { EndpointCall } from './call.ts'
import type { Exchange } from './exchange.ts'
import type { FairBudget, Share } from './fair-budget.ts'
import { prepareResponse, type ResponseContext } from './response-headers.ts'

/** Bytes of a body that are handed to the system at a time; bodies up to this are sent whole. */
const pieceBytes = 65_536

export class ResponseWriter {
  readonly #context: ResponseContext
  readonly #unread: FairBudget
  /** Short responses of this turn. */
  #unsettled: { readonly request: Exchange; readonly bytes: number }[] = []

  /** `unread` bounds the bytes of responses that have not been read. */
  constructor(context: ResponseContext, unread: FairBudget) {
    this.#context = context
    this.#unread = unread
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
    if (text === undefined) {
      const body = answer.body as Readable
      if (request.method !== 'HEAD') this.#pass(request, body, request.begin(answer.status, headers), answer)
      else {
        body.destroy()
        request.respond(answer.status, headers, '', 0)
      }
    } else if (bytes <= pieceBytes || request.method === 'HEAD') {
      const unsent = request.respond(answer.status, headers, text, bytes)
      if (unsent > 0) this.#trackUnlessSent(request, unsent)
    } else {
      // Outside the heap of JavaScript, which is smaller than the memory.
      const pieces =
        answer.longBody?.pieces ?? piecesOf(Buffer.from(text, bytes === text.length ? 'latin1' : 'utf8'))
      const share = this.#track(request, readerOf(request, answer), bytes)
      if (request.isGone) return 0
      new PieceWriter(request.begin(answer.status, headers), pieces, share).write()
    }
    return bytes
  }

  /** Counts a short response as unread if it has not gone out by the next turn, as nearly all have. */
  #trackUnlessSent(request: Exchange, bytes: number): void {
    if (this.#unsettled.push({ request, bytes }) === 1) setImmediate(this.#trackUnsettled)
  }

  readonly #trackUnsettled = () => {
    const unsettled = this.#unsettled
    this.#unsettled = []
    for (const { request, bytes } of unsettled)
      if (!request.isGone) this.#track(request, request.client, bytes)
  }

  /** Counts `bytes` as unread until the exchange is over, for a group of readers. */
  #track(request: Exchange, group: string, bytes: number): Share {
    const share = this.#unread.open(group, () => request.abort())
    request.onClose(() => share.close())
    share.grow(bytes)
    return share
  }

  /**
   * Passes a stream on. One piece at a time: the Python driver takes each DATA frame for one event, and waiting pieces
   * share a frame.
   */
  #pass(request: Exchange, body: Readable, target: Writable, answer: Answer): void {
    let waiting: Share | undefined
    body.on('error', () => request.abort())
    request.onClose(() => {
      waiting?.close()
      body.destroy()
    })
    body.on('data', (piece: Buffer | string) => {
      body.pause()
      const share = this.#unread.open(readerOf(request, answer), () => request.abort())
      waiting = share
      share.grow(piece.length)
      target.write(piece, () => {
        share.close()
        body.resume()
      })
    })
    body.once('end', () => target.end())
  }
}

/** Frees what a body that is not going to be sent holds: an event stream, an open file. */
export function discardBody({ body }: Answer): void {
  if (typeof body !== 'string') body.destroy()
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
class PieceWriter {
  readonly #target: Writable
  /** What is left, the next piece last. */
  readonly #rest: Uint8Array[]
  readonly #share: Share

  constructor(target: Writable, pieces: readonly Uint8Array[], share: Share) {
    this.#target = target
    this.#rest = pieces.toReversed()
    this.#share = share
  }

  readonly write = (): void => {
    if (this.#target.destroyed) return
    const piece = this.#rest.pop() as Uint8Array
    this.#share.move(piece.length)
    if (this.#rest.length > 0) this.#target.write(piece, this.write)
    else this.#target.end(piece)
  }
}
