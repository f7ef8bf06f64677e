// Messages between the service and its other processes over a socket or a pipe: the lengths of head and body, the head
// as a structured clone, and the body as bytes. The pieces of a body are never joined, so that a body of many megabytes
// does not block the service.

import type { Readable, Writable } from 'node:stream'
import { deserialize, serialize } from 'node:v8'

interface Frame {
  readonly head: unknown
  readonly body: readonly Uint8Array[]
}

const prefixBytes = 8

export function sendFrame(socket: Writable, head: unknown, body: readonly Uint8Array[] = []): void {
  const bytes = serialize(head)
  const prefix = Buffer.alloc(prefixBytes)
  prefix.writeUInt32LE(bytes.length)
  prefix.writeUInt32LE(
    body.reduce((sum, { length }) => sum + length, 0),
    4,
  )
  socket.write(Buffer.concat([prefix, bytes]))
  for (const piece of body) if (piece.length > 0) socket.write(piece)
}

export function receiveFrames(socket: Readable, receive: (frame: Frame) => void): void {
  let pending: Buffer[] = []
  let pendingBytes = 0
  let need = prefixBytes
  let bodyBytes = 0
  let head: unknown
  let state: 'prefix' | 'head' | 'body' = 'prefix'
  const advance = (pieces: Buffer[]): void => {
    if (state === 'prefix') {
      const prefix = Buffer.concat(pieces)
      bodyBytes = prefix.readUInt32LE(4)
      need = prefix.readUInt32LE(0)
      state = 'head'
    } else if (state === 'head') {
      head = deserialize(Buffer.concat(pieces))
      need = bodyBytes
      state = 'body'
    } else {
      need = prefixBytes
      state = 'prefix'
      receive({ head, body: pieces })
    }
  }
  socket.on('data', (chunk: Buffer) => {
    let rest = chunk
    for (;;) {
      const missing = need - pendingBytes
      if (rest.length < missing) break
      const pieces = missing > 0 ? [...pending, rest.subarray(0, missing)] : pending
      rest = rest.subarray(missing)
      pending = []
      pendingBytes = 0
      advance(pieces)
    }
    if (rest.length === 0) return
    pending.push(rest)
    pendingBytes += rest.length
  })
}
