// The event streams of the case `wide`.

import http2 from 'node:http2'
import type { WideRun } from './wide-run.ts'

/** Browsers and drivers open up to a hundred. */
const streamsPerSession = 100

/** Opens streams of version 4 over HTTP/2. */
export class StreamClient {
  readonly #run: Pick<WideRun, 'secret' | 'server'>
  readonly #sessions: http2.ClientHttp2Session[] = []
  #left = 0
  #done: () => void = () => undefined

  constructor(run: Pick<WideRun, 'secret' | 'server'>) {
    this.#run = run
  }

  /** `expressionOf` returns the document or set that a stream follows, as wire JSON. */
  async open(count: number, expressionOf: (n: number) => unknown): Promise<undefined> {
    for (let from = 0; from < count; from += streamsPerSession) {
      const session = http2.connect(this.#run.server.url)
      this.#sessions.push(session)
      const more = Math.min(streamsPerSession, count - from)
      await Promise.all(
        Array.from({ length: more }, (_, n) => this.#openOne(session, expressionOf(from + n))),
      )
    }
  }

  #openOne(session: http2.ClientHttp2Session, expression: unknown): Promise<void> {
    return new Promise((resolve, reject) => {
      const headers = { ':method': 'POST', ':path': '/stream', authorization: `Bearer ${this.#run.secret}` }
      const request = session.request(headers)
      let isStarted = false
      request.on('error', reject)
      request.on('response', ({ ':status': status }) => {
        if (status !== 200) reject(new Error(`a stream got the status ${status}`))
      })
      request.on('data', () => {
        if (isStarted && --this.#left === 0) this.#done()
        if (!isStarted) resolve()
        isStarted = true
      })
      request.end(JSON.stringify(expression))
    })
  }

  /** Resolves after this number of events. */
  events(count: number): Promise<void> {
    this.#left = count
    return new Promise(resolve => {
      this.#done = resolve
    })
  }

  close(): void {
    for (const session of this.#sessions) session.destroy()
  }
}
