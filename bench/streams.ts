// The case `streams`: thousands of open streams of one document, in each version of the language. Measures the memory
// of a silent stream, and the time from a write until every stream has received its event.

import http2 from 'node:http2'
import { keyOfNewDatabase, query, send } from '../tests/support/http.ts'
import { type ServerProcess, startProcess } from '../tests/support/server-process.ts'
import { median, memoryMebibytes } from './measure.ts'

export interface StreamsResult {
  readonly streams: number
  /** Private memory of the server for each of the streams. */
  readonly kibibytesPerStream: number
  /** The same for only the second half of the streams, without memory that does not depend on their number. */
  readonly kibibytesPerFurtherStream: number
  /** Percentiles of the time from sending the write to the event at a client, over all deliveries. */
  readonly p50Ms: number
  readonly p99Ms: number
  /** Median duration of a write with all streams open, and without streams. */
  readonly writeMs: number
  readonly writeAloneMs: number
}

const document = { ref: { collection: 'bench' }, id: '1' }
/** Browsers and drivers open up to a hundred. */
const streamsPerSession = 100
const updates = 20

export const streamLanguages = ['4', '10'] as const
type StreamLanguage = (typeof streamLanguages)[number]

interface Opening {
  readonly path: string
  readonly body: string
}

/** Opens `count` streams of one document on a server of its own, and updates the document. */
export async function measureStreams(
  folder: string,
  count: number,
  language: StreamLanguage,
): Promise<StreamsResult> {
  const server = await startProcess({ data: folder })
  const sessions: http2.ClientHttp2Session[] = []
  try {
    const secret = await keyOfNewDatabase(server, 'streams', 'server')
    await query(server, secret, { create_collection: { object: { name: 'bench' } } })
    await query(server, secret, { create: document, params: { object: {} } })
    const writeAloneMs = median(await timesOfUpdates(server, secret))
    const before = memoryMebibytes(server.pid).own
    const arrivals = new Arrivals(count)
    const opening = await openingOf(server, secret, language)
    const half = Math.floor(count / 2 / streamsPerSession) * streamsPerSession
    let halfway = before
    for (let opened = 0; opened < count; opened += streamsPerSession) {
      if (opened === half) halfway = memoryMebibytes(server.pid).own
      const session = http2.connect(server.url)
      sessions.push(session)
      const more = Math.min(streamsPerSession, count - opened)
      await Promise.all(Array.from({ length: more }, () => open(session, secret, opening, arrivals)))
    }
    const after = memoryMebibytes(server.pid).own
    const writes = await timesOfUpdates(server, secret, () => arrivals.all())
    const delays = arrivals.delays.toSorted((left, right) => left - right)
    return {
      streams: count,
      kibibytesPerStream: ((after - before) * 1024) / count,
      kibibytesPerFurtherStream: ((after - halfway) * 1024) / (count - half),
      p50Ms: delays[Math.floor(delays.length * 0.5)] ?? 0,
      p99Ms: delays[Math.floor(delays.length * 0.99)] ?? 0,
      writeMs: median(writes),
      writeAloneMs,
    }
  } finally {
    for (const session of sessions) session.destroy()
    await server.stop()
  }
}

/** Records, for each write, when every stream has received its event. */
class Arrivals {
  readonly delays: number[] = []
  readonly #count: number
  #began = 0
  #left = 0
  #done: () => void = () => undefined

  constructor(count: number) {
    this.#count = count
  }

  /** Waits for one event on every stream. */
  all(): Promise<void> {
    this.#began = performance.now()
    this.#left = this.#count
    return new Promise(resolve => {
      this.#done = resolve
    })
  }

  note(): void {
    this.delays.push(performance.now() - this.#began)
    if (--this.#left === 0) this.#done()
  }
}

async function openingOf(server: ServerProcess, secret: string, language: StreamLanguage): Promise<Opening> {
  if (language === '4') return { path: '/stream', body: JSON.stringify(document) }
  const body = JSON.stringify({ query: 'Set.single(bench.byId("1")).eventSource()' })
  const { json } = await send(server, { secret, path: '/query/1', body })
  const { data: token } = json as { readonly data: string }
  return { path: '/stream/1', body: JSON.stringify({ token }) }
}

/** Resolves when the stream has started. */
function open(
  session: http2.ClientHttp2Session,
  secret: string,
  { body, path }: Opening,
  arrivals: Arrivals,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const request = session.request({
      ':method': 'POST',
      ':path': path,
      authorization: `Bearer ${secret}`,
    })
    request.on('error', reject)
    let isStarted = false
    request.on('data', () => {
      if (isStarted) arrivals.note()
      else resolve()
      isStarted = true
    })
    request.end(body)
  })
}

/** Returns durations in milliseconds. Calls `delivered` before each update, and awaits its result after the update. */
async function timesOfUpdates(
  server: ServerProcess,
  secret: string,
  delivered: () => Promise<void> = async () => undefined,
): Promise<number[]> {
  const times: number[] = []
  for (let n = 0; n < updates; n++) {
    const arrived = delivered()
    const began = performance.now()
    await query(server, secret, { update: document, params: { object: { data: { object: { n } } } } })
    times.push(performance.now() - began)
    await arrived
  }
  return times
}
