// The first bytes of a connection: detects HTTP/2, HTTP/1.1 and the first record of a TLS handshake.

import type { Duplex } from 'node:stream'
import { limits } from '../../base/limits.ts'

/** The connection preface of HTTP/2. Its first part already differs from every HTTP/1.1 request. */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const distinctiveBytes = 'PRI * HTTP/2.0'.length

const frameHeadBytes = 9
const settingsType = 4
const noBytes = Buffer.alloc(0)

/** Returns whether `seen` begins an HTTP/2 connection; undefined while `seen` is too short for a decision. */
export function startsHttp2(seen: Buffer): boolean | undefined {
  const compared = Math.min(seen.length, distinctiveBytes)
  const matches = seen.compare(preface, 0, compared, 0, compared) === 0
  return matches && compared < distinctiveBytes ? undefined : matches
}

/**
 * The end of the SETTINGS frame after the preface; undefined while the frame has not arrived, and 0 when `seen` is not
 * a valid beginning of an HTTP/2 connection.
 */
export function endOfSettings(seen: Buffer): number | undefined {
  const compared = Math.min(seen.length, preface.length)
  if (seen.compare(preface, 0, compared, 0, compared) !== 0) return 0
  const frameAt = preface.length
  if (seen.length < frameAt + frameHeadBytes) return undefined
  if (seen[frameAt + 3] !== settingsType) return 0
  const end = frameAt + frameHeadBytes + seen.readUIntBE(frameAt, 3)
  return seen.length < end ? undefined : end
}

/** The head of a TLS record: type (here of a handshake), version, and number of bytes that follow. */
const recordHeadBytes = 5
const recordLengthAt = 3
const handshakeType = 22

/** Returns whether the first record of a handshake is complete; also true when `seen` does not begin a handshake. */
export function holdsFirstRecord(seen: Buffer): boolean {
  if (seen[0] !== handshakeType) return true
  return seen.length >= recordHeadBytes && seen.length >= recordHeadBytes + seen.readUInt16BE(recordLengthAt)
}

/**
 * Calls `look` whenever bytes arrive on `socket`, with all bytes that have arrived, until `look` returns the next step.
 * The step runs when this function no longer reads the socket. The bytes are not put back.
 */
export function peek(socket: Duplex, look: (seen: Buffer) => (() => void) | undefined): void {
  let seen: Buffer = noBytes
  const read = () => {
    const chunk: Buffer | null = socket.read()
    if (chunk === null) return
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk])
    const next = seen.length > peekedBytesMax ? () => socket.destroy() : look(seen)
    if (next === undefined) return
    // The listener is removed before the step, because putting bytes back may emit `readable` again.
    socket.removeListener('readable', read)
    next()
  }
  socket.on('readable', read)
}

/**
 * The size of the first request or the first frames: a head, and the part of a body that a client may send before
 * authentication.
 */
const peekedBytesMax = limits.requestHeadBytesMax + limits.strangerBodyBytesMax + 16_384
