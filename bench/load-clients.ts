// The protocol clients of the load process: HTTP/1.1 and HTTP/2 over raw sockets, with only the features that the
// benchmark needs, so that the load takes as little as possible of the machine that it shares with the server.

import { connect, type Socket } from 'node:net'

/** Called when a response is complete. `failure` is its beginning if the status was neither 200 nor 201. */
export type OnResponse = (failure: string | undefined) => void

/** Has room for one request at a time (HTTP/1.1) or for several (HTTP/2). */
export interface LoadClient {
  /** Concurrent requests. */
  readonly lanes: number
  send(request: number, done: OnResponse): void
  /** Resolves when {@link close} has closed the connection; rejects when it fails before. */
  readonly ended: Promise<void>
  close(): void
}

/**
 * Milliseconds of idle time after which a connection is not reused, because servers close idle connections, some after
 * 5 seconds.
 */
const idleMsMax = 2000

/** A connection, which is reopened if it was closed, or idle for too long, while no request was running. */
class Line {
  readonly ended: Promise<void>
  readonly #port: number
  readonly #events: LineEvents
  #socket: Socket
  #usedMs = performance.now()
  #isClosing = false
  #resolve = () => {}
  #reject: (reason: Error) => void = () => {}

  constructor(port: number, events: LineEvents) {
    this.#port = port
    this.#events = events
    this.ended = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.#reject = reject
    })
    this.#socket = this.#open()
  }

  /** Bytes of a running request, or of a new one if none is running. */
  write(bytes: Buffer | string): void {
    this.#usedMs = performance.now()
    this.#socket.write(bytes)
  }

  /** Called before a new request is sent. */
  prepare(): void {
    if (this.#events.isBusy()) return
    const isOld = performance.now() - this.#usedMs > idleMsMax
    if (isOld) this.#socket.end()
    if (isOld || this.#socket.destroyed || this.#socket.readableEnded) this.#socket = this.#open()
  }

  close(): void {
    this.#isClosing = true
    if (this.#socket.destroyed) this.#resolve()
    else this.#socket.end()
  }

  #open(): Socket {
    const socket = connect({ host: '127.0.0.1', port: this.#port, noDelay: true })
    let cause: Error | undefined
    socket.on('error', error => {
      cause = error
    })
    socket.on('data', (chunk: Buffer) => {
      if (socket === this.#socket) this.#events.receive(chunk)
    })
    socket.on('close', () => {
      if (socket !== this.#socket) return
      if (this.#isClosing) this.#resolve()
      else if (this.#events.isBusy()) {
        this.#reject(new Error('a connection was closed during a request', { cause }))
      }
    })
    this.#events.opened?.(socket)
    return socket
  }
}

/** Callbacks that the user of a line implements. */
interface LineEvents {
  /** Waits for responses. */
  isBusy(): boolean
  receive(chunk: Buffer): void
  /** Called for a new connection; the state of the previous one is discarded. */
  opened?(socket: Socket): void
}

/** Length of the complete HTTP/1.1 response at the start of `data`, or 0 while it is incomplete. */
function responseLength(data: Buffer): number {
  const headEnd = data.indexOf('\r\n\r\n')
  if (headEnd < 0) return 0
  const length = /\r\ncontent-length: *(\d+)/i.exec(data.toString('latin1', 0, headEnd))?.[1]
  if (length === undefined) throw new Error(`a response without content-length: ${data.toString()}`)
  const whole = headEnd + 4 + Number(length)
  return data.length < whole ? 0 : whole
}

/** `requests` are whole texts of head and body. */
export function http1Client(port: number, requests: readonly string[]): LoadClient {
  const texts = requests.map(request => Buffer.from(request))
  let received: Buffer | undefined
  let waiting: OnResponse | undefined
  const receive = (chunk: Buffer) => {
    const data = received ? Buffer.concat([received, chunk]) : chunk
    if (responseLength(data) === 0) {
      received = data
      return
    }
    received = undefined
    const done = waiting
    waiting = undefined
    // The statuses 200 and 201 begin with "20" at the tenth byte.
    done?.(data[9] === 0x32 && data[10] === 0x30 ? undefined : data.toString())
  }
  const line = new Line(port, { isBusy: () => waiting !== undefined, receive })
  const send = (request: number, done: OnResponse) => {
    line.prepare()
    waiting = done
    line.write(texts[request] as Buffer)
  }
  return { lanes: 1, send, ended: line.ended, close: () => line.close() }
}

const frameHeadBytes = 9
const frameTypes = {
  data: 0,
  headers: 1,
  reset: 3,
  settings: 4,
  ping: 6,
  goAway: 7,
  windowUpdate: 8,
} as const
const endStream = 1
const acknowledged = 1
const endHeaders = 4
const windowMax = 2 ** 31 - 1
/** The window of a stream before it is enlarged. */
const firstWindow = 65_535
const framePayloadMax = 16_384
/** The encoded field `:status: 200` of the static table of HPACK. */
const status200 = 0x88

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(frameHeadBytes)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

/** Encodes a length in HPACK, with a prefix of seven bits. */
function hpackLength(length: number): Buffer {
  if (length < 127) return Buffer.from([length])
  const bytes = [127]
  let rest = length - 127
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128)
  return Buffer.from([...bytes, rest])
}

/** Encodes a header field that is not in the static table, and is not added to the dynamic table. */
function literalField(name: string, value: string): Buffer {
  const parts = [Buffer.from(name), Buffer.from(value)].flatMap(part => [hpackLength(part.length), part])
  return Buffer.concat([Buffer.from([0]), ...parts])
}

/** Converts a request in HTTP/1.1 text to frames of stream 0. */
function http2Frames(request: string): { headers: Buffer; body: Buffer } {
  const headEnd = request.indexOf('\r\n\r\n')
  const [first = '', ...lines] = request.slice(0, headEnd).split('\r\n')
  const [method = '', path = ''] = first.split(' ')
  const fields: [string, string][] = [
    [':method', method],
    [':scheme', 'http'],
    [':path', path],
    [':authority', '127.0.0.1'],
  ]
  for (const line of lines) {
    const [name = '', value = ''] = line.split(': ')
    if (name !== 'host') fields.push([name, value])
  }
  const block = Buffer.concat(fields.map(([name, value]) => literalField(name, value)))
  const body = Buffer.from(request.slice(headEnd + 4))
  if (body.length > framePayloadMax) throw new Error('a body is too long for one frame')
  return {
    headers: frame(frameTypes.headers, endHeaders, 0, block),
    body: frame(frameTypes.data, endStream, 0, body),
  }
}

/** Sends requests in clear text, with up to `lanes` concurrent streams. */
export function http2Client(port: number, requests: readonly string[], lanes: number): LoadClient {
  const frames = requests.map(http2Frames)
  const waiting = new Map<number, { done: OnResponse; failure: string | undefined }>()
  let nextStream = 1
  let received = 0
  let rest: Buffer = Buffer.alloc(0)
  const opened = (socket: Socket) => {
    // The setting 4 is SETTINGS_INITIAL_WINDOW_SIZE.
    const initialWindow = Buffer.concat([Buffer.from([0, 4]), uint32(windowMax)])
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
    socket.write(frame(frameTypes.settings, 0, 0, initialWindow))
    socket.write(frame(frameTypes.windowUpdate, 0, 0, uint32(windowMax - firstWindow)))
    nextStream = 1
    received = 0
    rest = Buffer.alloc(0)
  }
  const take = (type: number, flags: number, id: number, payload: Buffer) => {
    if (type === frameTypes.settings && (flags & acknowledged) === 0) {
      line.write(frame(frameTypes.settings, acknowledged, 0, Buffer.alloc(0)))
    } else if (type === frameTypes.ping && (flags & acknowledged) === 0) {
      line.write(frame(frameTypes.ping, acknowledged, 0, payload))
    }
    const stream = waiting.get(id)
    if (stream === undefined) return
    if (type === frameTypes.reset) stream.failure = 'the server reset a stream'
    // The body of the response shows the other statuses.
    if (type === frameTypes.headers && payload[0] !== status200) stream.failure = 'a status other than 200'
    if (type === frameTypes.data) {
      received += payload.length
      if (stream.failure !== undefined) stream.failure += payload.toString()
    }
    const isOver = type === frameTypes.reset || (type <= frameTypes.headers && (flags & endStream) !== 0)
    if (!isOver) return
    waiting.delete(id)
    stream.done(stream.failure)
  }
  const receive = (chunk: Buffer) => {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let at = 0
    while (data.length - at >= frameHeadBytes) {
      const end = at + frameHeadBytes + data.readUIntBE(at, 3)
      if (end > data.length) break
      const id = data.readUInt32BE(at + 5)
      take(data[at + 3] as number, data[at + 4] as number, id, data.subarray(at + frameHeadBytes, end))
      at = end
    }
    rest = data.subarray(at)
    if (received > windowMax / 2) {
      line.write(frame(frameTypes.windowUpdate, 0, 0, uint32(received)))
      received = 0
    }
  }
  const line = new Line(port, { isBusy: () => waiting.size > 0, receive, opened })
  const send = (request: number, done: OnResponse) => {
    line.prepare()
    const { headers, body } = frames[request] as (typeof frames)[number]
    const both = Buffer.concat([headers, body])
    both.writeUInt32BE(nextStream, 5)
    both.writeUInt32BE(nextStream, headers.length + 5)
    waiting.set(nextStream, { done, failure: undefined })
    nextStream += 2
    line.write(both)
  }
  return { lanes, send, ended: line.ended, close: () => line.close() }
}
