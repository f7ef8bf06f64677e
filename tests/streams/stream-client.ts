// Reads event streams over HTTP/1.1. Each event keeps its exact text.

import assert from 'node:assert/strict'
import type { RunningServer } from '../support/server.ts'

/** A parsed event with its text on the wire. */
export interface WireEvent {
  readonly type: string
  readonly txn: number
  readonly event: unknown
  readonly text: string
}

export interface OpenOptions {
  readonly fields?: string
  readonly apiVersion?: string
  /** The last transaction time that the client has seen. */
  readonly seen?: number
}

export class StreamReader {
  readonly response: Response
  readonly #body: ReadableStreamDefaultReader<Uint8Array>
  readonly #abort: AbortController
  readonly #decoder = new TextDecoder()
  #text = ''

  constructor(response: Response, abort: AbortController) {
    this.response = response
    this.#body = (response.body as ReadableStream<Uint8Array>).getReader()
    this.#abort = abort
  }

  /** The next event; undefined at the end of the stream. */
  async read(): Promise<WireEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\r\n')
      if (end >= 0) {
        const text = this.#text.slice(0, end)
        this.#text = this.#text.slice(end + 2)
        return { ...JSON.parse(text), text }
      }
      const { done, value } = await this.#body.read()
      if (done) {
        assert.equal(this.#text, '', 'a stream ends with a whole event')
        return undefined
      }
      this.#text += this.#decoder.decode(value, { stream: true })
    }
  }

  /** The next event, which must exist. */
  async next(): Promise<WireEvent> {
    const event = await this.read()
    assert.ok(event, 'the stream has ended')
    return event
  }

  /** Asserts the exact text of the next event. */
  async expect(type: string, txn: number, event: object): Promise<void> {
    assert.equal((await this.next()).text, JSON.stringify({ type, txn, event }))
  }

  /** The next event, which must be an error and the last event. */
  async nextEnd(): Promise<WireEvent> {
    const event = await this.next()
    assert.equal(event.type, 'error', event.text)
    assert.equal(await this.read(), undefined)
    return event
  }

  close(): void {
    this.#abort.abort()
  }
}

/** Sends `POST /stream`. */
export async function requestStream(
  server: Pick<RunningServer, 'url'>,
  secret: string,
  expression: unknown,
  { fields, apiVersion = '4', seen }: OpenOptions = {},
): Promise<{ readonly response: Response; readonly abort: AbortController }> {
  const abort = new AbortController()
  const parameters = fields === undefined ? '' : `?fields=${encodeURIComponent(fields)}`
  const response = await fetch(`${server.url}/stream${parameters}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${secret}`,
      'x-faunadb-api-version': apiVersion,
      ...(seen !== undefined && { 'x-last-seen-txn': String(seen) }),
    },
    body: JSON.stringify(expression),
    signal: abort.signal,
  })
  return { response, abort }
}

/** Opens a stream, and reads its start event. */
export async function openStream(
  server: Pick<RunningServer, 'url'>,
  secret: string,
  expression: unknown,
  options: OpenOptions = {},
): Promise<StreamReader> {
  const { response, abort } = await requestStream(server, secret, expression, options)
  if (response.status !== 200) assert.fail(`status ${response.status}: ${await response.text()}`)
  const reader = new StreamReader(response, abort)
  const start = await reader.next()
  assert.equal(start.type, 'start', start.text)
  return reader
}
