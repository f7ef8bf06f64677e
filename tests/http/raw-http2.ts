// Hand-made frames of HTTP/2, for requests that no client library would send.

const frameTypes = { data: 0, headers: 1, reset: 3, settings: 4, goaway: 7, windowUpdate: 8 } as const

/** A frame; `flags` as in RFC 9113. */
export function frame(
  type: keyof typeof frameTypes,
  flags: number,
  stream: number,
  payload: Uint8Array = new Uint8Array(),
): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = frameTypes[type]
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** The beginning of a connection: the preface and settings by number. */
export function opening(settings: Readonly<Record<number, number>> = {}): Buffer {
  const entries = Object.entries(settings).map(([name, value]) => {
    const entry = Buffer.alloc(6)
    entry.writeUInt16BE(Number(name))
    entry.writeUInt32BE(value, 2)
    return entry
  })
  return Buffer.concat([
    Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
    frame('settings', 0, 0, Buffer.concat(entries)),
  ])
}

/** The setting for the bytes of a response that may be sent before the client opens its window. */
export const initialWindow = 4

export const endStream = 1
export const endHeaders = 4

/** A block of literal headers. */
export function headerBlock(headers: Readonly<Record<string, string>>): Buffer {
  const texts = Object.entries(headers).flatMap(([name, value]) => [
    Buffer.from([0, name.length]),
    Buffer.from(name),
    Buffer.from([value.length]),
    Buffer.from(value),
  ])
  return Buffer.concat(texts)
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** The error code of the first GOAWAY frame in a server's data; undefined without one. */
export function goawayCode(received: Buffer): number | undefined {
  for (let at = 0; at + 9 <= received.length; ) {
    const length = received.readUIntBE(at, 3)
    if (received[at + 3] === frameTypes.goaway && at + 17 <= received.length)
      return received.readUInt32BE(at + 13)
    at += 9 + length
  }
  return undefined
}
