// Reads the first bytes of a connection, and handles upgrades to HTTP/2 (RFC 7540, section 3.2). A client without TLS
// requests the upgrade in an HTTP/1.1 request, as Java's HTTP client does at the start of a connection. The response is
// sent as stream 1 of the HTTP/2 session. Node does not support upgrades, so this file inserts a HEADERS frame after
// the client's SETTINGS, as if the client itself had opened stream 1. Headers and body of stream 1 come from the
// HTTP/1.1 request.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { limits } from '../../base/limits.ts'
import { Pieces } from './pieces.ts'

/** The connection preface of HTTP/2. Its first part already differs from every HTTP/1.1 request. */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const distinctiveBytes = 'PRI * HTTP/2.0'.length

const frameHeadBytes = 9
const settingsType = 4
const noBytes = Buffer.alloc(0)

/** Returns undefined while `seen` is too short for a decision. */
export function startsHttp2(seen: Buffer): boolean | undefined {
  const compared = Math.min(seen.length, distinctiveBytes)
  const matches = seen.compare(preface, 0, compared, 0, compared) === 0
  return matches && compared < distinctiveBytes ? undefined : matches
}

/**
 * Offset at which the SETTINGS frame after the preface ends. Returns undefined while the frame has not arrived; 0 if
 * `seen` is not a valid beginning of an HTTP/2 connection.
 */
function endOfSettings(seen: Buffer): number | undefined {
  const compared = Math.min(seen.length, preface.length)
  if (seen.compare(preface, 0, compared, 0, compared) !== 0) return 0
  const frameAt = preface.length
  if (seen.length < frameAt + frameHeadBytes) return undefined
  if (seen[frameAt + 3] !== settingsType) return 0
  const end = frameAt + frameHeadBytes + seen.readUIntBE(frameAt, 3)
  return seen.length < end ? undefined : end
}

/** The head of a TLS record has its type, its version, and the number of bytes that follow. */
const recordHeadBytes = 5
const recordLengthAt = 3
const handshakeType = 22

/** Returns true also if `seen` does not begin a handshake. */
export function containsFirstRecord(seen: Buffer): boolean {
  if (seen[0] !== handshakeType) return true
  return seen.length >= recordHeadBytes && seen.length >= recordHeadBytes + seen.readUInt16BE(recordLengthAt)
}

/**
 * Calls `look` with all bytes that have arrived on `socket`, whenever more arrive. `look` returns undefined to wait for
 * more, or a function that runs after `peek` has stopped reading. `peek` does not put the bytes back into the socket,
 * but the function may do so.
 */
export function peek(socket: Duplex, look: (seen: Buffer) => (() => void) | undefined): void {
  let seen: Buffer = noBytes
  const read = () => {
    const chunk: Buffer | null = socket.read()
    if (chunk === null) return
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk])
    const next = seen.length > peekedBytesMax ? () => socket.destroy() : look(seen)
    if (next === undefined) return
    // Removed first, because `next` may put bytes back, and the socket then emits `readable` again.
    socket.removeListener('readable', read)
    next()
  }
  socket.on('readable', read)
}

/**
 * Bytes that {@link peek} collects: room for a request head, and for the part of a body that a client may send before
 * authentication.
 */
const peekedBytesMax = limits.requestHeadBytesMax + limits.unauthenticatedBodyBytesMax + 16_384

/** Arrived over HTTP/1.1; the following HTTP/2 session answers it as stream 1. */
export interface UpgradeRequest {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

const headEndMark = '\r\n\r\n'

const switching = 'HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: h2c\r\n\r\n'

/**
 * A HEADERS frame that opens and ends stream 1: POST (0x83), scheme http (0x86), path / (0x84), authority "-". These
 * values are placeholders; the {@link UpgradeRequest} contains the actual values.
 */
const openingHeaders = Buffer.from([0, 0, 6, 1, 5, 0, 0, 0, 1, 0x83, 0x86, 0x84, 0x01, 0x01, 0x2d])

/** A request with a long or chunked body is not upgraded. */
export function requestsUpgrade({ headers }: IncomingMessage): boolean {
  const protocols = headers.upgrade?.toLowerCase().split(/[ \t]*,[ \t]*/) ?? []
  return (
    protocols.includes('h2c') &&
    headers['http2-settings'] !== undefined &&
    headers['transfer-encoding'] === undefined &&
    Number(headers['content-length'] ?? 0) <= limits.unauthenticatedBodyBytesMax
  )
}

/**
 * Finds a request with an upgrade at the beginning of a connection. The caller waits until it is complete, because Node
 * then passes on the socket itself. For an incomplete request, Node passes on a stream that wraps the socket, which
 * makes the whole connection slower.
 */
export function upgradeIn(seen: Buffer): 'none' | 'incomplete' | 'complete' {
  const text = seen.toString('latin1', 0, limits.requestHeadBytesMax)
  const headEnd = text.indexOf(headEndMark)
  if (headEnd < 0) return 'none'
  const head = text.slice(0, headEnd)
  if (!/\r\nupgrade:[^\r]*h2c/i.test(head)) return 'none'
  const bodyBytes = Number(/\r\ncontent-length:[ \t]*(\d+)/i.exec(head)?.[1] ?? 0)
  if (bodyBytes > limits.unauthenticatedBodyBytesMax) return 'none'
  return seen.length < headEnd + headEndMark.length + bodyBytes ? 'incomplete' : 'complete'
}

/**
 * Switches protocols after the whole request has arrived. The bytes after the request are in `head` (those that Node
 * has already read) and then in `stream`. Calls `ready` when an HTTP/2 session can begin.
 */
export function receiveUpgrade(
  request: IncomingMessage,
  stream: Duplex,
  head: Buffer,
  ready: (early: UpgradeRequest) => void,
): void {
  const { method, url, headers } = request
  const pieces = new Pieces()
  request.on('data', (piece: Buffer) => pieces.add(piece))
  request.on('end', () => {
    stream.write(switching)
    if (head.length > 0) stream.unshift(head)
    peek(stream, seen => {
      const end = endOfSettings(seen)
      if (end === undefined) return undefined
      if (end === 0) return () => request.socket.destroy()
      return () => {
        stream.unshift(Buffer.concat([seen.subarray(0, end), openingHeaders, seen.subarray(end)]))
        ready({ method: method as string, url: url as string, headers, body: pieces.joined() })
      }
    })
  })
}
