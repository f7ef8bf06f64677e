// An engine whose responses the test decides, with the HTTP service on a free port.

import assert from 'node:assert/strict'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { pino } from 'pino'
import type { Clock } from '../../src/base/clock.ts'
import { systemClock } from '../../src/base/clock.ts'
import { micros } from '../../src/base/micros.ts'
import { systemRandom } from '../../src/base/random.ts'
import type { RequestErrorCode } from '../../src/base/request-errors.ts'
import { systemTimers } from '../../src/base/timers.ts'
import type { Engine, QueryMetrics, QueryRequest, QueryResponse } from '../../src/engine/engine-contract.ts'
import { createApplication } from '../../src/server/http/application.ts'
import type { Services } from '../../src/server/http/endpoint.ts'
import type { ListenAddress, Listener, ListenerOptions } from '../../src/server/http/listener.ts'
import { RequestMeter } from '../../src/server/http/request-meter.ts'

/** The time of all answers of the fake engine, in microseconds. */
export const fakeNow = 1_700_000_000_123_456

export const fakeMetrics: QueryMetrics = {
  computeOps: 2,
  byteReadOps: 3,
  byteWriteOps: 4,
  storageBytesRead: 5,
  storageBytesWrite: 6,
  queryTimeMs: 7,
  txnRetries: 8,
  rateLimited: [],
}

/** A successful answer with `json` as the resource. */
export function resource(json: string, status = 200): QueryResponse {
  return {
    status,
    body: `{"resource":${json}}`,
    txnTime: micros(fakeNow),
    metrics: fakeMetrics,
    database: 0n,
  }
}

/** An answer for a request that failed as a whole. */
export function failure(status: number, code: RequestErrorCode, description: string): QueryResponse {
  return {
    status,
    body: JSON.stringify({ errors: [{ code, description }] }),
    txnTime: micros(fakeNow),
    metrics: code === 'unauthorized' || code === 'internal server error' ? undefined : fakeMetrics,
    database: undefined,
    requestError: code,
  }
}

export interface FakeEngine extends Engine {
  /** All requests to the engine, in order. */
  readonly seen: QueryRequest[]
  /** Answers a query; by default it echoes the body. */
  answer: (request: QueryRequest) => QueryResponse | Promise<QueryResponse>
  pinged: (scope: string) => Promise<void>
}

/** An engine that accepts the secret `right` as Bearer, and echoes queries. */
export function fakeEngine(): FakeEngine {
  const seen: QueryRequest[] = []
  const guarded = (request: QueryRequest, then: () => QueryResponse | Promise<QueryResponse>) => {
    seen.push(request)
    return request.authorization === 'Bearer right' ? then() : failure(401, 'unauthorized', 'Unauthorized')
  }
  const engine: FakeEngine = {
    seen,
    answer: request => resource(request.body ?? '"nothing"'),
    pinged: () => Promise.resolve(),
    query: request => guarded(request, () => engine.answer(request)),
    openStream: request => guarded(request, () => resource('"no stream"')),
    endStreams: () => {},
    completed: (_request, { body }) => body,
    ownToken: request => guarded(request, () => resource('"token"')),
    explain: request => guarded(request, () => resource('"explained"')),
    indexSize: request => guarded(request, () => resource('"size"')),
    collectionSize: request => guarded(request, () => resource('"size"')),
    collectionPosition: request => guarded(request, () => resource('"position"')),
    authorized: request =>
      guarded(request, () => ({
        status: 200,
        body: '{"account":"0","global_id":"z"}',
        txnTime: micros(fakeNow),
        metrics: fakeMetrics,
        database: 0n,
      })),
    ping: scope => engine.pinged(scope),
    whoIs: () => Promise.resolve(undefined),
    withMemory: (_ticket, _units, work) => work(),
    nameOf: () => assert.fail('nobody asks'),
    databasesAlong: () => undefined,
    exhausted: () => [],
    charge: () => undefined,
    now: () => micros(fakeNow),
  }
  return engine
}

export interface FakeService {
  readonly engine: FakeEngine
  readonly application: Listener
  readonly url: string
  readonly port: number
  /** The parsed log lines so far. */
  readonly log: Record<string, unknown>[]
  /** Begins to stop, as after a signal. Without `graceMs`, running requests are never cut off. */
  stop(graceMs?: number): Promise<void>
  /** `await using` stops the service at the end of its block, and cuts off running requests. */
  [Symbol.asyncDispose](): Promise<void>
}

/** The longest delay of a timer. */
const neverMs = 2 ** 31 - 1

export interface FakeServiceOptions extends ListenerOptions {
  readonly port?: number
  /** The test accepts the connections and hands them over. */
  readonly handed?: boolean
  readonly pendingRequestsMax?: number
  readonly unreadResponseBytesMax?: number
  readonly clock?: Clock
}

/** Services without a query log. */
export function fakeServices(engine = fakeEngine()): Services {
  return {
    engine,
    log: pino({ level: 'silent' }),
    clock: systemClock,
    random: systemRandom,
    timers: systemTimers,
    recordsQueries: true,
    meter: new RequestMeter(),
    notice: new AbortController().signal,
    stopping: new AbortController().signal,
  }
}

/** Starts the HTTP service on a fake engine. The caller must stop it. */
export async function startFakeService(options: FakeServiceOptions = {}): Promise<FakeService> {
  const engine = fakeEngine()
  const log: Record<string, unknown>[] = []
  const stopping = new AbortController()
  const services = {
    ...fakeServices(engine),
    log: pino({ level: 'info' }, { write: (line: string) => log.push(JSON.parse(line)) }),
    clock: options.clock ?? systemClock,
    stopping: stopping.signal,
  }
  const application = createApplication(services, {
    build: '1.2.3-test',
    host: 'test-host',
    pendingRequestsMax: options.pendingRequestsMax ?? 1000,
    ...(options.unreadResponseBytesMax !== undefined && {
      unreadResponseBytesMax: options.unreadResponseBytesMax,
    }),
    listener: options,
  })
  const address = { host: '127.0.0.1', port: options.port ?? 0 }
  const acceptor = options.handed ? createServer(application.receive()) : undefined
  const port = acceptor ? await listening(acceptor, address) : await application.listen(address)
  const scheme = options.tls === undefined ? 'http' : 'https'
  const stop = (graceMs = neverMs) => {
    stopping.abort()
    acceptor?.close()
    return application.close(graceMs)
  }
  const url = `${scheme}://127.0.0.1:${port}`
  return { engine, application, url, port, log, stop, [Symbol.asyncDispose]: () => stop(0) }
}

async function listening(server: Server, address: ListenAddress): Promise<number> {
  await new Promise<void>(resolve => server.listen(address, resolve))
  return (server.address() as AddressInfo).port
}
