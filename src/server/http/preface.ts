// The first bytes of a connection: which version of HTTP they begin, or whether they are what a handshake of TLS begins with.

import type { Duplex } from 'node:stream'
import { limits } from '../../base/limits.ts'

/** What every HTTP/2 connection begins with; as much of it as tells it from HTTP/1.1 comes first. */
const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const tellingBytes = 'PRI * HTTP/2.0'.length

const frameHeadBytes = 9
const settingsType = 4
const noBytes = Buffer.alloc(0)

/** Whether `seen` begins an HTTP/2 connection; undefined while too little has been seen to tell. */
export function startsHttp2(seen: Buffer): boolean | undefined {
  const compared = Math.min(seen.length, tellingBytes)
  const matches = seen.compare(preface, 0, compared, 0, compared) === 0
  return matches && compared < tellingBytes ? undefined : matches
}

/**
 * Where the SETTINGS frame that follows the preface ends; undefined while it has not arrived, and 0 when `seen` does
 * not begin as an HTTP/2 connection has to.
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

/** A record of TLS: its type, of which a handshake has this one, its version, and how many bytes follow. */
const recordHeadBytes = 5
const recordLengthAt = 3
const handshakeType = 22

/** Whether all of the first record of a handshake has arrived, or something that begins none. */
export function holdsFirstRecord(seen: Buffer): boolean {
  if (seen[0] !== handshakeType) return true
  return seen.length >= recordHeadBytes && seen.length >= recordHeadBytes + seen.readUInt16BE(recordLengthAt)
}

/**
 * Calls `look` with all that has arrived on `socket` whenever more has, until it returns what to do next; that is done
 * once nothing is read here any more. What was looked at is not put back.
 */
export function peek(socket: Duplex, look: (seen: Buffer) => (() => void) | undefined): void {
  let seen: Buffer = noBytes
  const read = () => {
    const chunk: Buffer | null = socket.read()
    if (chunk === null) return
    seen = seen.length === 0 ? chunk : Buffer.concat([seen, chunk])
    const next = seen.length > peekedBytesMax ? () => socket.destroy() : look(seen)
    if (next === undefined) return
    // First of all: putting something back may call this again.
    socket.removeListener('readable', read)
    next()
  }
  socket.on('readable', read)
}

/** What is looked at is the first request, or a few frames: a head and as much of a body as strangers may send. */
const peekedBytesMax = limits.requestHeadBytesMax + limits.strangerBodyBytesMax + 16_384
