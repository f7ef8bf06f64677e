// A service on a fake engine for each test of connections, and a single request on an HTTP/2 session.

import type http2 from 'node:http2'
import { test } from 'node:test'
import { type FakeService, type FakeServiceOptions, startFakeService } from './fake-engine.ts'

/** The credential that the fake engine accepts. */
export const authorization = 'Bearer right'

/** A test with a service of its own, which the test may stop. */
export function serviceTest(
  name: string,
  body: (service: FakeService) => Promise<void>,
  options: FakeServiceOptions = {},
): void {
  test(name, async () => {
    await using service = await startFakeService(options)
    await body(service)
  })
}

/** A response over HTTP/2. */
interface Http2Answer {
  readonly status: number
  readonly headers: http2.IncomingHttpHeaders
  readonly text: string
}

/** Sends one request on an HTTP/2 session. */
export function request(
  session: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  body?: string,
): Promise<Http2Answer> {
  return new Promise((resolve, reject) => {
    const stream = session.request(headers, { endStream: body === undefined })
    let text = ''
    let answered: http2.IncomingHttpHeaders = {}
    stream.setEncoding('utf8')
    stream.on('response', received => {
      answered = received
    })
    stream.on('data', data => {
      text += data
    })
    stream.on('end', () => resolve({ status: Number(answered[':status']), headers: answered, text }))
    stream.on('error', reject)
    if (body !== undefined) stream.end(body)
  })
}

/** The headers of a query over HTTP/2. */
export const post = { ':method': 'POST', ':path': '/', authorization }
